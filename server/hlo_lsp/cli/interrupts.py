"""The end of a command after Ctrl-C."""

import os
import signal
import sys
import threading
from contextlib import suppress
from typing import NoReturn

_STATUS = 130


def end_at_once() -> NoReturn:
    """End this process and its children as after Ctrl-C.

    An ordinary end waits for threads and processes, which can wait for a server in turn.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if "multiprocessing" in sys.modules:
        for child in sys.modules["multiprocessing"].active_children():
            child.terminate()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # closed, or without a reader
            stream.flush()
    os._exit(_STATUS)
