"""Tests for the uses of buffers in module text, compared with those that XLA printed."""

from pathlib import Path

import pytest

from hlo_lsp.memory.why_alive import lifetime_of
from oracles.compiles import CorpusCompile, compiles_of, sample

pytestmark = pytest.mark.corpus

_FORWARDING = frozenset(
    {"tuple", "get-tuple-element", "bitcast", "opt-barrier", "domain", "add-dependency"}
)
_CALLERS = frozenset({"while", "call", "conditional", "async-start", "async-update"})


def test_uses_are_those_that_xla_printed(folder: Path) -> None:
    for compile_ in compiles_of(folder):
        for name, index, users in _printed_users(compile_):
            value = compile_.dump.value_at(name, index)
            found = None if value is None else lifetime_of(compile_.dump, value)
            if found is not None:
                direct = {use.instruction.name for use in found.uses if use.copy is None}
                assert users <= direct, (compile_.dump.files[0].label, name, index)


def _printed_users(compile_: CorpusCompile) -> list[tuple[str, str | None, set[str]]]:
    """Return the arrays with their users that XLA printed."""
    found = []
    for entry in sample(compile_.printed.entries.values()):
        value = compile_.dump.value_of_key(entry.key)
        shape = None if value is None else compile_.dump.shape_text(value)
        if value is None or shape is None or shape.startswith("("):
            continue
        users = set()
        for use in entry.uses:
            line = compile_.dump.instruction(use.name)
            opcode = "" if line is None else line.record.opcode
            if opcode and not opcode.endswith("-done") and opcode not in _FORWARDING | _CALLERS:
                users.add(use.name)
        found.append((value.name, value.index, users))
    return found
