"""The buffers that the instructions of each computation define."""

from dataclasses import dataclass

from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.module_records import ComputationLine
from hlo_lsp.text.steps import Steps, finish

ENTERING = frozenset({"while", "call", "conditional", "async-start"})
_STEP = 500  # values between two breaths
_KEY = "buffers inside"


@dataclass(slots=True)
class Inside:
    """How many values a computation defines outside of thread-local memory, and their bytes.

    Values that share memory over time count each for itself.
    """

    values: int = 0
    bytes: int = 0


def buffers_inside(dump: DumpSet, computation: ComputationLine) -> Inside | None:
    """Those of one computation, or None if it defines none that have memory."""
    return finish(all_inside(dump)).get(computation)


def all_inside(dump: DumpSet) -> Steps[dict[ComputationLine, Inside]]:
    """Those of all computations; remembered until a file of the compile changes."""
    state = dump.state(dump.files)
    known: dict[ComputationLine, Inside] | None = dump.remembered(_KEY, state)
    if known is not None:
        return known
    found: dict[ComputationLine, Inside] = {}
    count = 0
    for allocation in dump.allocations():
        if allocation.record.thread_local:
            continue
        for value in dump.assigned_to(allocation):
            count += 1
            if count % _STEP == 0:
                yield
            line = dump.instruction(value.name)
            home = None if line is None else line.file.module.computation_of(line.record)
            if home is not None:
                inside = found.setdefault(home, Inside())
                inside.values += 1
                inside.bytes += value.size
    dump.remember(_KEY, state, found)
    return found
