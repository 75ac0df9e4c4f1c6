"""What editors may show faintly: what nobody uses, and what takes no memory of its own."""

from hlo_lsp.analysis.colours.token import Modifier
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.value import Value
from hlo_lsp.syntax.module_records import InstructionLine

# They do something besides their result (hlo_instruction.cc, HasSideEffectNoRecurse).
_DOING = frozenset(
    {
        "all-gather-done", "all-gather-start", "all-reduce-done", "all-reduce-start",
        "collective-permute-done", "collective-permute-start", "infeed", "outfeed", "recv",
        "recv-done", "rng", "rng-get-and-update-state", "send", "send-done",
    }
)  # fmt: skip
_DOES = "custom_call_has_side_effect=true"


def value_modifiers(dump: DumpSet, value_id: int) -> int:
    """What is to be said of a value, as far as the files of the compile that are read tell."""
    value = dump.value(value_id)
    if value is None:
        return Modifier.NONE
    if value.allocation is not None and value.allocation.record.thread_local:
        return Modifier.THREAD_LOCAL
    return Modifier.UNUSED if _is_unused_value(dump, value) else Modifier.NONE


def is_unused(file: DumpFile, instruction: InstructionLine) -> bool:
    """Whether an instruction is for nothing: nobody names it, and it is no result.

    One that calls computations or does something else is never unused. False as long as it is not
    known who names whom.
    """
    if instruction.is_root or file.module.is_named(instruction) is not False:
        return False
    return not _does_something(instruction) and not file.module.is_root(instruction)


def _is_unused_value(dump: DumpSet, value: Value) -> bool:
    """Whether an entry lists no uses, and the value is neither an output nor a result.

    XLA prints ``(none)`` for the root of a computation, too: only the module text tells them apart.
    """
    entry = value.entry
    if entry is None or not entry.record.whole or next(entry.record.uses, None) is not None:
        return False
    if value.allocation is None or value.allocation.record.maybe_live_out:
        return False
    for position in entry.record.positions:
        instruction = dump.instruction(position.name)
        if instruction is None or instruction.file.module.is_root(instruction.record):
            return False
    return True


def _does_something(instruction: InstructionLine) -> bool:
    if instruction.opcode in _DOING or _DOES in instruction.text:
        return True
    return instruction.opcode != "fusion" and bool(instruction.bodies or instruction.called)
