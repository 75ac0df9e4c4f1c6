"""Reads the text dumps of XLA: HLO modules, buffer assignments, live ranges and memory reports."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hlo_lsp.api import Capture, Module, analyze, capture, load, load_profile

__version__ = "0.2.0"
__all__ = ["Capture", "Module", "__version__", "analyze", "capture", "load", "load_profile"]


def __getattr__(name: str) -> Any:
    """Import the Python interface on first use, because the command line does not need it."""
    if name in __all__:
        return getattr(import_module("hlo_lsp.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
