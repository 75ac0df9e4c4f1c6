"""Resolution of a cursor target to an instruction or a computation."""

from hlo_lsp.ide.cursor.targets import CursorTarget
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine, ModuleHeader
from hlo_lsp.syntax.records import Record


def resolve_instruction(
    dump: DumpSet, target: CursorTarget, name: str
) -> LocatedRecord[InstructionLine] | None:
    """Return the instruction that a name at the cursor refers to.

    In module text a name refers to an instruction of the same computation. In memory files XLA
    prints names that are unique in the module.
    """
    file = target.place.file
    scope = name_scope(file, target.record)
    if scope is None:
        return dump.instruction(name)
    record = file.module.instruction_in_scope(scope, name)
    return None if record is None else LocatedRecord(file, record)


def resolve_computation(
    dump: DumpSet, target: CursorTarget, name: str
) -> LocatedRecord[ComputationLine] | None:
    """Return the computation with this name, preferably from the file of the cursor target."""
    own = target.place.file.module.named(name)
    if own is not None:
        return LocatedRecord(target.place.file, own)
    return dump.computation(name)


def enclosing_computation(target: CursorTarget) -> LocatedRecord[ComputationLine] | None:
    """Return the computation around a target; for the module header, the entry computation."""
    file, record = target.place.file, target.record
    if isinstance(record, InstructionLine):
        head = file.module.computation_of(record)
    elif isinstance(record, ComputationLine):
        head = record
    else:
        head = file.module.entry if isinstance(record, ModuleHeader) else None
    return None if head is None else LocatedRecord(file, head)


def name_scope(file: DumpFile, record: Record) -> Record | None:
    """Return the record that names are resolved in, or None if the record is not module text."""
    if isinstance(record, InstructionLine):
        return file.module.scope_of(record)
    return record if isinstance(record, ComputationLine) else None
