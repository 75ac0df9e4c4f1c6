"""What to do where a program is missing that a test needs."""

import os
from typing import NoReturn

import pytest


def absent(what: str, remedy: str) -> NoReturn:
    """Skips the test on somebody's machine; in continuous integration it has failed."""
    sentence = f"there is no {what}: {remedy}"
    if os.environ.get("CI"):
        pytest.fail(sentence)
    pytest.skip(sentence)
