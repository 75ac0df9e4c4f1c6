"""Which instructions mention a name."""

import re

from hlo_lsp.model.multimap import MultiMap
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text.checkpoint import checkpoint

_STEP = 500  # instructions between two breaths: about 3 ms
_PERCENT_NAME = re.compile(r"%([\w.\-]+)")


class Mentions:
    """Instructions by the names in their texts; learnt on request, kept up to date from then on."""

    def __init__(self) -> None:
        self._by_name: MultiMap[str, InstructionLine] | None = None
        # What came and went while the names were being learnt.
        self._journal: list[tuple[InstructionLine, bool]] | None = None

    @property
    def is_learnt(self) -> bool:
        """Whether the names are learnt, or being learnt."""
        return self._by_name is not None or self._journal is not None

    def of(self, name: str) -> list[InstructionLine] | None:
        """The instructions that mention a name, or None as long as nothing was learnt."""
        return None if self._by_name is None else self._by_name.all(name)

    def add(self, record: InstructionLine) -> None:
        """A new instruction."""
        if self._journal is not None:
            self._journal.append((record, True))
        elif self._by_name is not None:
            _add(self._by_name, record)

    def remove(self, record: InstructionLine) -> None:
        """An instruction that is gone."""
        if self._journal is not None:
            self._journal.append((record, False))
        elif self._by_name is not None:
            _remove(self._by_name, record)

    def learn(self, instructions: MultiMap[str, InstructionLine]) -> None:
        """Read the names of all instructions."""
        if self.is_learnt:
            return
        journal = self._journal = []
        try:
            learnt: MultiMap[str, InstructionLine] = MultiMap()
            for count, record in enumerate(list(instructions.records())):
                for name in _names(record):
                    known = instructions.first(name)  # its name is in memory already
                    learnt.add(name if known is None else known.name, record)
                if count % _STEP == _STEP - 1:
                    checkpoint()
            for record, entered in journal:
                (_add if entered else _remove)(learnt, record)
            self._by_name = learnt
        finally:
            self._journal = None


def _add(by_name: MultiMap[str, InstructionLine], record: InstructionLine) -> None:
    for name in _names(record):
        by_name.add(name, record)


def _remove(by_name: MultiMap[str, InstructionLine], record: InstructionLine) -> None:
    for name in _names(record):
        by_name.remove(name, record)


def _names(record: InstructionLine) -> set[str]:
    """All names behind the opcode; the own one only of an instruction that uses itself."""
    names = set(_PERCENT_NAME.findall(record.text, record.opened))
    names.update(record.reads, record.called)
    if "control-predecessors" in record.text:  # printed without the signs
        names.update(span.text for span in record.parsed.predecessors)
    return names
