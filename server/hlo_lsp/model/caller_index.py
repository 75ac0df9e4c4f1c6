"""The instructions of a module text that call each computation."""

from functools import lru_cache

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.model.memory_index import MultiMap, RecordChange
from hlo_lsp.syntax.module_records import InstructionLine

_INSTRUCTIONS_PER_CHECKPOINT = 100  # less than 0.1 ms
_MAX_SEARCHES = 10  # of 1 ms in a large text; for more, all callers are indexed


class CallerIndex:
    """The callers of computations, found on request and updated from then on."""

    def __init__(self, instructions: MultiMap[str, InstructionLine]) -> None:
        self._instructions = instructions
        self._calling: dict[InstructionLine, None] | None = None  # all that may call something
        self._by_name: MultiMap[str, InstructionLine] | None = None
        self._searches = 0

    def update(self, record: InstructionLine, change: RecordChange) -> None:
        """Add or remove an instruction."""
        if self._calling is None or not _may_call(record):
            return
        if change is MultiMap.add:
            self._calling[record] = None
        else:
            self._calling.pop(record, None)
        if self._by_name is not None:
            for name in set(record.called):
                change(self._by_name, name, record)

    def callers(self, name: str) -> list[InstructionLine]:
        """Return the instructions that call a computation by name, in the order of the file."""
        if self._by_name is None and self._searches < _MAX_SEARCHES:
            self._searches += 1
            found = [one for one in self._find_calling() if name in one.text and name in one.called]
            return sorted(found, key=lambda one: one.line)
        return self.index().all(name)

    def index(self) -> MultiMap[str, InstructionLine]:
        """Return the instructions that call each computation."""
        if self._by_name is None:
            by_name: MultiMap[str, InstructionLine] = MultiMap()
            for record in self._find_calling():
                checkpoint()
                for called in set(record.called):
                    by_name.add(called, record)
            self._by_name = by_name
        return self._by_name

    def _find_calling(self) -> dict[InstructionLine, None]:
        """Return the instructions that may call a computation: one of ten in a TPU program."""
        if self._calling is None:
            found: dict[InstructionLine, None] = {}
            for count, record in enumerate(self._instructions.records()):
                if count % _INSTRUCTIONS_PER_CHECKPOINT == 0:
                    checkpoint()
                if _may_call(record):
                    found[record] = None
            self._calling = found
        return self._calling


@lru_cache(maxsize=1 << 10)
def _is_calling(opcode: str) -> bool:
    known = vocabulary().opcode(opcode)
    return known is None or bool(known.calls)


def _may_call(record: InstructionLine) -> bool:
    """Return False if an instruction certainly calls no computation, without reading most texts."""
    text = record.text
    return _is_calling(record.opcode) or "=%" in text or "={%" in text
