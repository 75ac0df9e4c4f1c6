"""Which instruction or computation is meant by a mention."""

from hlo_lsp.ide.cursor.targets import CursorTarget
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.value import LocatedRecord
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine, ModuleHeader
from hlo_lsp.syntax.records import Record


def resolve_instruction(
    dump: DumpSet, found: CursorTarget, name: str
) -> LocatedRecord[InstructionLine] | None:
    """The line of an instruction.

    In module text a name means the instruction of the same computation; anywhere else the one of
    this name, which XLA prints once in a module.
    """
    file = found.place.file
    scope = name_scope(file, found.record)
    if scope is None:
        return dump.instruction(name)
    record = file.module.in_scope(scope, name)
    return None if record is None else LocatedRecord(file, record)


def resolve_computation(
    dump: DumpSet, found: CursorTarget, name: str
) -> LocatedRecord[ComputationLine] | None:
    """The head of a computation: in the same file, where that is module text."""
    own = found.place.file.module.named(name)
    if own is not None:
        return LocatedRecord(found.place.file, own)
    return dump.computation(name)


def enclosing_computation(found: CursorTarget) -> LocatedRecord[ComputationLine] | None:
    """The computation that a place of module text is in; of the first line the entry."""
    file, record = found.place.file, found.record
    if isinstance(record, InstructionLine):
        head = file.module.computation_of(record)
    elif isinstance(record, ComputationLine):
        head = record
    else:
        head = file.module.entry if isinstance(record, ModuleHeader) else None
    return None if head is None else LocatedRecord(file, head)


def name_scope(file: DumpFile, record: Record) -> Record | None:
    """Where names of a record of module text are looked up; None for any other record."""
    if isinstance(record, InstructionLine):
        return file.module.scope_of(record)
    return record if isinstance(record, ComputationLine) else None
