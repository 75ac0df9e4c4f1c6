"""The programs that figures are compared with, measured in the same run."""

import importlib
import shutil
import sys
import time
from pathlib import Path

EMPTY_SERVER = (sys.executable, str(Path(__file__).with_name("empty_server.py")))


def xla_seconds(text: str) -> float | None:
    """Return the time of XLA's own parser, or None without jaxlib 0.10.2."""
    try:
        hlo = importlib.import_module("jaxlib._hlo")
    except ImportError:
        return None
    started = time.perf_counter()
    hlo.hlo_module_from_text(text)
    return time.perf_counter() - started


def mlir_server() -> tuple[str, ...] | None:
    """Return the command of `mlir-lsp-server` (Debian: `mlir-19-tools`), or None without it."""
    for name in ("mlir-lsp-server", *(f"mlir-lsp-server-{n}" for n in range(25, 13, -1))):
        if found := shutil.which(name):
            return (found,)
    return None
