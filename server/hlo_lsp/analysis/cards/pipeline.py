"""Where else in the pipeline of its compile an instruction can be found."""

from hlo_lsp.analysis.cards.card import Fact, listed
from hlo_lsp.analysis.module.counterparts import counterparts
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.naming import suffix_of
from hlo_lsp.model.value import Located
from hlo_lsp.syntax.module_records import InstructionLine

_SHOWN = 4  # names in a list


def pipeline_facts(dump: DumpSet, line: Located[InstructionLine]) -> list[Fact]:
    """What there is for the same operation and Python line in the other texts of the module."""
    names: dict[DumpFile, list[str]] = {}
    for other in counterparts(dump, line):
        names.setdefault(other.file, []).append(f"`{other.record.name}`")
    return [Fact(f"in {text_name(file)}", listed(found, _SHOWN)) for file, found in names.items()]


def text_name(file: DumpFile) -> str:
    """What a module text is of its compile: ``before_optimizations``."""
    suffix = None if file.path is None else suffix_of(file.path.name)
    if suffix is None or not suffix.is_known:
        return file.label
    return suffix.text.removesuffix(".txt")
