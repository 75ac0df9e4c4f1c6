"""Memory that is free goes back to the system."""

import platform
import subprocess
import sys

import pytest

from hlo_lsp.lsp.scheduling import release_memory

_SCRIPT = """
from hlo_lsp.lsp.scheduling import release_memory

def resident():
    return int(open("/proc/self/statm").read().split()[1])

texts = [bytearray(2_000) for _ in range(20_000)]
kept = texts[::100]
del texts
before = resident()
release_memory()
print(before - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries keep nothing")
def test_holes_between_what_is_kept_go_back() -> None:
    printed = subprocess.check_output([sys.executable, "-c", _SCRIPT], stdin=subprocess.DEVNULL)
    assert int(printed) > 5_000  # of 10 000 pages


def test_it_may_be_asked_for_anywhere() -> None:
    release_memory()
    release_memory()
