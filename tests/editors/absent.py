"""Programs that a test needs and the machine lacks."""

import os
from typing import NoReturn

import pytest


def absent(what: str, remedy: str) -> NoReturn:
    """Skip the test, or fail it in continuous integration."""
    sentence = f"there is no {what}: {remedy}"
    if os.environ.get("CI"):
        pytest.fail(sentence)
    pytest.skip(sentence)
