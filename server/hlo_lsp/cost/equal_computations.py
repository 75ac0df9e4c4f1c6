"""Computations with equal texts, of which the cost is computed once.

XLA writes a fused computation for each fusion. The layers of a model have the same ones, with other
names: the 8,107 fused computations of a program with 96 layers have 91 texts.
"""

import re

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.syntax.module_records import ComputationLine

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
# Metadata with nested braces remains, so that computations with other metadata differ.
_METADATA = re.compile(
    rf', metadata=\{{[^{{}}"]*(?:{_STRING.pattern}[^{{}}"]*)*\}}(?=,|$)', re.MULTILINE
)
_NAME = re.compile(r"%([\w.\-]+)")
_MAX_INSTRUCTIONS = 500  # Larger computations are rarely equal, and their text takes long.

# The text between names, the number of each name, and the computations of these names.
_Form = tuple[tuple[str, ...], tuple[int, ...], tuple[ComputationLine | None, ...]]


class EqualComputations:
    """The first of the computations that differ only in names and metadata."""

    def __init__(self, module: ModuleIndex) -> None:
        self._module = module
        self._first: dict[ComputationLine, ComputationLine] = {}
        self._by_form: dict[_Form, ComputationLine] = {}

    def first(self, head: ComputationLine) -> ComputationLine:
        """Return the first computation asked about that equals one, else the computation itself."""
        known = self._first.get(head)
        if known is None:
            self._first[head] = head  # for damaged texts that call themselves
            form = self._form(head)
            if form is not None:
                self._first[head] = self._by_form.setdefault(form, head)
            known = self._first[head]
        return known

    def _form(self, head: ComputationLine) -> _Form | None:
        """Return what computations of equal cost have in common; None for unusual ones."""
        checkpoint()
        body = self._module.computation(head)
        is_usual = body.is_intact and not body.is_inside and len(body.members) <= _MAX_INSTRUCTIONS
        if not is_usual or any(member.bodies for member in body.members):
            return None
        text = _METADATA.sub("", "\n".join([member.text for member in body.members]))
        if '"' in text and "%" in "".join(_STRING.findall(text)):
            return None
        parts = _NAME.split(text)  # names have odd numbers
        names = parts[1::2]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        callees = [self._module.named(name) for name in numbers]
        return (
            tuple(parts[::2]),
            tuple([numbers[name] for name in names]),
            tuple([None if one is None else self.first(one) for one in callees]),
        )
