"""The grammars of ``grammar/*.lark``, loaded once and compiled into regular expressions.

The rules of a line are regular, so each rule has two readers: Lark, which is slow and explains
errors, and one compiled expression, which is a hundred times as fast.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from re import Match, Pattern
from typing import TYPE_CHECKING

from hlo_lsp.background_jobs import cached_property
from hlo_lsp.syntax.records import Record

if TYPE_CHECKING:
    from lark import Lark, Token, Tree
    from lark.lexer import Pattern as LarkPattern
    from lark.load_grammar import Grammar as LarkGrammar

_WORDS = re.compile(r"[A-Za-z_]{2,}")
_MAX_EXPECTED_TERMS = 5  # alternatives in an error message
# Left out of error messages, as they are allowed almost everywhere.
_WHITESPACE_TERMINALS = {"INDENT", "SPACE"}
# The wheel has the grammars inside the package, a checkout next to server/.
_PARENTS = Path(__file__).resolve().parents
_GRAMMAR_FOLDER = next(
    folder for parent in _PARENTS[1:4:2] if (folder := parent / "grammar").is_dir()
)


# Parts of a definition: literals, expressions, comments, names, and operators.
_PART = re.compile(r'"(?:[^"\\]|\\.)*"|/(?!/)(?:[^/\\]|\\.)+/|//.*|\w+|[()|?*+]')
_DEFINITION = re.compile(r"^\??(\w+)(?:\.-?\d+)?:(.*(?:\n +\|.*)*)", re.MULTILINE)
_IMPORT = re.compile(r"^%import \.(\w+)", re.MULTILINE)


class Grammar:
    """A ``.lark`` file, each rule of which can be parsed separately."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._path = _GRAMMAR_FOLDER / f"{name}.lark"
        self._text = self._path.read_text("utf-8")
        self._definitions: dict[str, list[str]] = {}
        for imported in _IMPORT.findall(self._text):
            self._definitions |= load_grammar(imported)._definitions
        for defined, text in _DEFINITION.findall(self._text):
            parts = _PART.findall(text)
            self._definitions[defined] = [part for part in parts if not part.startswith("//")]
        self._expressions: dict[str, Pattern[str]] = {}
        self._parsers: dict[str, Lark] = {}  # most rules need none, and making one takes 20 ms

    def has_rule(self, rule: str) -> bool:
        """Return True if the grammar defines this rule."""
        return rule in self._definitions

    def parse(self, rule: str, text: str) -> "Tree[Token] | ParseFailure":
        """Parse ``text`` with Lark; return why if it does not match the rule."""
        from lark.exceptions import UnexpectedInput, UnexpectedToken  # noqa: PLC0415  # 10 ms

        try:
            return self._parser(rule).parse(text)
        except UnexpectedInput as error:
            at_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
            position = error.pos_in_stream
            column = len(text) if at_end or position is None or position < 0 else position
            sets = (getattr(error, kind, None) for kind in ("accepts", "expected", "allowed"))
            names = sorted(map(str, next(filter(None, sets), ())))
            names = [name for name in names if name not in _WHITESPACE_TERMINALS] or names
            patterns = {one.name: one.pattern for one in self._parser(rule).terminals}
            expected = (_describe_terminal(name, patterns.get(name)) for name in names)
            return ParseFailure(column, tuple(dict.fromkeys(expected)))

    def parse_failure(self, rule: str, text: str) -> "ParseFailure | None":
        """Return why ``text`` does not match the rule, or None if it does."""
        found = self.parse(rule, text)
        return found if isinstance(found, ParseFailure) else None

    def _parser(self, rule: str) -> "Lark":
        from lark import Lark  # noqa: PLC0415  # most commands need no parser

        parser = self._parsers.get(rule)
        if parser is None:
            parser = Lark(self._for_lark, parser="lalr", start=rule, maybe_placeholders=False)
            self._parsers[rule] = parser
        return parser

    @cached_property
    def _for_lark(self) -> "LarkGrammar":
        from lark.load_grammar import load_grammar as load  # noqa: PLC0415  # as above

        path = self._path
        loaded: LarkGrammar
        loaded, _ = load(  # type: ignore[no-untyped-call]  # untyped in lark
            self._text, str(path), [str(path.parent)], False
        )
        return loaded

    def expression(self, rule: str) -> Pattern[str]:
        """Return the rule as a regular expression.

        The first occurrence of each terminal is a named group.
        """
        found = self._expressions.get(rule)
        if found is None:
            found = self._expressions[rule] = re.compile(self._definition_expression(rule, set()))
        return found

    def opening(self, rule: str) -> str:
        """Return a literal text that every line of the rule begins with; empty if none is known."""
        first, *others = self._definitions[rule]
        if "|" in others or others[:1] in (["?"], ["*"], ["+"]):
            return ""
        if first in self._definitions:
            return self.opening(first)
        return _literal_text(first) if first.startswith('"') else ""

    def _definition_expression(self, name: str, named: set[str] | None) -> str:
        """Return a rule or terminal as an expression, with groups for terminals not yet named."""
        group = "?:"
        if named is not None and name.isupper():
            group = group if name in named else f"?P<{name}>"
            named.add(name)
            named = None
        parts = (self._part_expression(part, named) for part in self._definitions[name])
        return f"({group}{''.join(parts)})"

    def _part_expression(self, part: str, named: set[str] | None) -> str:
        match part[0]:
            case '"':
                return f"(?:{re.escape(_literal_text(part))})"
            case "/":
                return f"(?:{part[1:-1]})"
            case "(":
                return "(?:"
            case ")" | "|" | "?" | "*" | "+":
                return part
        return self._definition_expression(part, named)


@dataclass(frozen=True, slots=True)
class ParseFailure:
    """The first mismatch of a text and a rule.

    ``column`` counts code points from 0; ``expected`` lists the alternatives there.
    """

    column: int
    expected: tuple[str, ...]

    def __str__(self) -> str:
        return "expected " + (" or ".join(self.expected[:_MAX_EXPECTED_TERMS]) or "something else")


@cache
def load_grammar(name: str) -> Grammar:
    """Return the grammar of this name, loaded at the first call."""
    return Grammar(name)


@cache
def literal_words() -> frozenset[str]:
    """Return the words of all grammars, which include those that lines contain literally."""
    texts = (path.read_text("utf-8") for path in _GRAMMAR_FOLDER.glob("*.lark"))
    return frozenset(word for text in texts for word in _WORDS.findall(text))


def subtrees(tree: "Tree[Token]") -> "Iterator[Tree[Token]]":
    """Yield the children of a tree other than tokens."""
    return (child for child in tree.children if not isinstance(child, str))


def _describe_terminal(terminal: str, pattern: "LarkPattern | None") -> str:
    """Describe a terminal by its text if that is fixed, else by its name."""
    if pattern is None:  # Lark's own terminal for the end
        return "the end of the line"
    if pattern.type == "str":
        return f"`{pattern.value}`"
    return "number" if terminal == "INT" else terminal.lower().replace("_", " ")


def _literal_text(literal: str) -> str:
    return literal[1:-1].encode().decode("unicode_escape")


_PREFIX_LENGTH = 4  # characters that nearly always determine the rule
_MAX_CACHED_PREFIXES = 4096  # only a file that is not a dump has more


@dataclass(frozen=True)
class LineRule:
    """A rule of a grammar and the constructor of its records."""

    grammar: Grammar
    name: str
    make_record: Callable[[Match[str]], Record]

    @cached_property
    def expression(self) -> Pattern[str]:
        """The rule as a regular expression. Half of the rules match no line of most dumps."""
        return self.grammar.expression(self.name)

    @cached_property
    def opening(self) -> str:
        """The literal text that every line of the rule begins with."""
        return self.grammar.opening(self.name)

    def can_match(self, prefix: str) -> bool:
        """Return True if a line with this prefix can match the rule."""
        return prefix.startswith(self.opening) or self.opening.startswith(prefix)


class LineRules:
    """An ordered set of rules; the first one that matches a line reads it."""

    def __init__(self, rules: list[LineRule]) -> None:
        self._rules = rules
        self._candidates: dict[str, list[LineRule]] = {}

    def read(self, line: str) -> tuple[LineRule, Match[str]] | None:
        """Return the rule that matches the whole line and the match, or None."""
        prefix = line[:_PREFIX_LENGTH]
        candidates = self._candidates.get(prefix)
        if candidates is None:
            if len(self._candidates) > _MAX_CACHED_PREFIXES:
                self._candidates.clear()
            candidates = [rule for rule in self._rules if rule.can_match(prefix)]
            self._candidates[prefix] = candidates
        for rule in candidates:
            match = rule.expression.fullmatch(line)
            if match is not None:
                return rule, match
        return None

    @property
    def openings(self) -> Iterator[str]:
        """The literal texts that lines begin with, of the rules that have one."""
        return filter(None, (rule.opening for rule in self._rules))

    def explain(self, line: str) -> ParseFailure:
        """Return why no rule matches the line, for the rule that matches most of it."""
        best = ParseFailure(0, ())
        for rule in self._rules:
            if not rule.can_match(line[: len(rule.opening)]):
                continue
            refusal = rule.grammar.parse_failure(rule.name, line)
            if refusal is not None and refusal.column > best.column:
                best = refusal
        return best
