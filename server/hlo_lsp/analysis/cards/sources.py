"""Facts about the Python lines that an instruction came from."""

from dataclasses import dataclass

from hlo_lsp.analysis.cards.card import Fact
from hlo_lsp.model.source import SourceLine


@dataclass(frozen=True, slots=True)
class StackFact(Fact):
    """The innermost line as ``source``, and behind it those that called it, from the inside out.

    ``text`` speaks of the innermost line only.
    """

    callers: tuple[SourceLine, ...] = ()
