"""Which rule a line is of: the fast reader for lines that are records of their own."""

from collections.abc import Callable
from dataclasses import dataclass
from re import Match, Pattern

from hlo_lsp.syntax.grammar import Grammar, Refusal
from hlo_lsp.syntax.records import Record

_PREFIX = 4  # characters that nearly always tell the rule
_REMEMBERED = 4096  # prefixes; more would be a file that is no dump


@dataclass(frozen=True, slots=True)
class LineRule:
    """One rule of a grammar and how a line of it becomes a record."""

    name: str
    grammar: Grammar
    expression: Pattern[str]
    opening: str
    make: Callable[[Match[str]], Record]

    @classmethod
    def of(cls, grammar: Grammar, name: str, make: Callable[[Match[str]], Record]) -> "LineRule":
        """The rule of this name in the grammar."""
        return cls(name, grammar, grammar.expression(name), grammar.opening(name), make)

    def may_read(self, prefix: str) -> bool:
        """Whether a line with this prefix can be of the rule."""
        return prefix.startswith(self.opening) or self.opening.startswith(prefix)


class LineRules:
    """A set of rules. The first that reads a line counts, whatever was read before."""

    def __init__(self, rules: list[LineRule]) -> None:
        self._rules = rules
        self._candidates: dict[str, list[LineRule]] = {}

    def read(self, line: str) -> tuple[LineRule, Match[str]] | None:
        """The rule that reads the whole line, with its match, or None."""
        prefix = line[:_PREFIX]
        candidates = self._candidates.get(prefix)
        if candidates is None:
            candidates = self._remember(prefix)
        for rule in candidates:
            match = rule.expression.fullmatch(line)
            if match is not None:
                return rule, match
        return None

    def explain(self, line: str) -> Refusal:
        """Why no rule reads the line: by the rule that gets furthest into it."""
        best = Refusal(0, ())
        for rule in self._rules:
            if not rule.may_read(line[: len(rule.opening)]):
                continue
            refusal = rule.grammar.refusal(rule.name, line)
            if refusal is not None and refusal.column > best.column:
                best = refusal
        return best

    def _remember(self, prefix: str) -> list[LineRule]:
        if len(self._candidates) > _REMEMBERED:
            self._candidates.clear()
        candidates = [rule for rule in self._rules if rule.may_read(prefix)]
        self._candidates[prefix] = candidates
        return candidates
