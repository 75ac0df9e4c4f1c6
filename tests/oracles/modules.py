"""The module text that the memory files of a compile speak of."""

from hlo_lsp.model.module_index import ModuleIndex
from oracles.compiles import Compile


def module_of(compile_: Compile) -> ModuleIndex | None:
    """The module, ready for many questions; None where only memory files were dumped."""
    for spot in compile_.printed.instructions.values():
        module = compile_.file(spot.path).module
        module.build_mention_index()
        return module
    return None
