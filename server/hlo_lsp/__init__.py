"""Reads the text dumps of XLA: HLO modules, buffer assignments, live ranges and memory reports."""

TYPE_CHECKING = False  # not that of typing: hlo_lsp.import_path runs before all other imports
if TYPE_CHECKING:
    from typing import Any

    from hlo_lsp.api import Capture, Module, analyze, capture, load, load_profile
    from hlo_lsp.api import compile as compile  # noqa: A004  # as compile() of jax.stages

__version__ = "0.2.0"
__all__ = [
    "Capture",
    "Module",
    "__version__",
    "analyze",
    "capture",
    "compile",
    "load",
    "load_profile",
]


def __getattr__(name: str) -> "Any":
    """Import the Python interface on first use, because the command line does not need it."""
    if name in __all__:
        from importlib import import_module  # noqa: PLC0415

        return getattr(import_module("hlo_lsp.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
