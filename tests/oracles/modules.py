"""The module text of a compile."""

from hlo_lsp.model.module_index import ModuleIndex
from oracles.compiles import Compile


def module_of_compile(compile_: Compile) -> ModuleIndex | None:
    """Return the indexed module of a compile, or None if only memory files were dumped."""
    for spot in compile_.printed.instructions.values():
        module = compile_.file(spot.path).module
        module.build_mention_index()
        return module
    return None
