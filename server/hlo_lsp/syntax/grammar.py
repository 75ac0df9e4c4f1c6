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

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken
from lark.grammar import NonTerminal, Symbol, Terminal
from lark.lexer import Pattern as LarkPattern
from lark.load_grammar import Grammar as LarkGrammar
from lark.load_grammar import load_grammar as load_lark_grammar

from hlo_lsp.syntax.records import Record

_WORDS = re.compile(r"[A-Za-z_]{2,}")
_MAX_EXPECTED_TERMS = 5  # alternatives in an error message
# Left out of error messages, as they are allowed almost everywhere.
_WHITESPACE_TERMINALS = {"INDENT", "SPACE"}
# The wheel has the grammars inside the package, a checkout next to server/.
_PARENTS = Path(__file__).resolve().parents
_GRAMMAR_FOLDER = next(
    folder for parent in _PARENTS[1:4:2] if (folder := parent / "grammar").is_dir()
)


class Grammar:
    """A ``.lark`` file, each rule of which can be parsed separately."""

    def __init__(self, name: str) -> None:
        path = _GRAMMAR_FOLDER / f"{name}.lark"
        self.name = name
        self._loaded, _ = load_lark_grammar(  # type: ignore[no-untyped-call]  # untyped in lark
            path.read_text("utf-8"), str(path), [str(path.parent)], False
        )
        self._rules: dict[str, Tree[Symbol]] = {
            str(rule[0]): rule[2] for rule in self._loaded.rule_defs
        }
        # Without the rules, which only a parser needs: converting them takes 3 ms for each grammar.
        only_terminals = LarkGrammar([], self._loaded.term_defs, [])
        terminals, _, _ = only_terminals.compile([], "*")
        self._terminals = {terminal.name: terminal.pattern for terminal in terminals}
        self._expressions: dict[str, Pattern[str]] = {}
        self._parsers: dict[str, Lark] = {}  # most rules need none, and making one takes 20 ms

    def has_rule(self, rule: str) -> bool:
        """Return True if the grammar defines this rule."""
        return rule in self._rules

    def parse(self, rule: str, text: str) -> "Tree[Token]":
        """Parse ``text`` with Lark.

        Raises:
            lark.UnexpectedInput: The text does not match the rule.
        """
        return self._parser(rule).parse(text)

    def _parser(self, rule: str) -> Lark:
        parser = self._parsers.get(rule)
        if parser is None:
            parser = Lark(self._loaded, parser="lalr", start=rule, maybe_placeholders=False)
            self._parsers[rule] = parser
        return parser

    def parse_failure(self, rule: str, text: str) -> "ParseFailure | None":
        """Return why ``text`` does not match the rule, or None if it does."""
        try:
            self.parse(rule, text)
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
        return None

    def expression(self, rule: str) -> Pattern[str]:
        """Return the rule as a regular expression.

        The first occurrence of each terminal is a named group.
        """
        found = self._expressions.get(rule)
        if found is None:
            found = self._expressions[rule] = re.compile(
                self._node_expression(self._rules[rule], set())
            )
        return found

    def opening(self, rule: str) -> str:
        """Return the literal text that every line of the rule begins with; empty if it varies."""
        node: object = self._rules[rule]
        while isinstance(node, Tree) and node.data in {"expansions", "expansion", "value"}:
            if node.data == "expansions" and len(node.children) > 1:
                return ""
            node = node.children[0]
            if isinstance(node, NonTerminal):
                node = self._rules[str(node.name)]
        if isinstance(node, Tree) and node.data == "literal":
            return _literal_text(node)
        return ""

    def _node_expression(self, node: object, named: set[str]) -> str:
        if isinstance(node, NonTerminal):
            return self._node_expression(self._rules[str(node.name)], named)
        if isinstance(node, Terminal):
            name = str(node.name)
            group = "?:" if name in named else f"?P<{name}>"
            named.add(name)
            return f"({group}{self._terminals[name].to_regexp()})"
        assert isinstance(node, Tree), node
        if node.data == "literal":
            return re.escape(_literal_text(node))
        if node.data == "expr":
            inner, operator = node.children
            return f"(?:{self._node_expression(inner, named)}){operator}"
        parts = [self._node_expression(child, named) for child in node.children]
        if node.data == "expansions" and len(parts) > 1:
            return f"(?:{'|'.join(parts)})"
        return "".join(parts)


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


def literal_words() -> frozenset[str]:
    """Return the words of all grammars, which include those that lines contain literally."""
    texts = (path.read_text("utf-8") for path in _GRAMMAR_FOLDER.glob("*.lark"))
    return frozenset(word for text in texts for word in _WORDS.findall(text))


def subtrees(tree: "Tree[Token]") -> "Iterator[Tree[Token]]":
    """Yield the children of a tree other than tokens."""
    return (child for child in tree.children if isinstance(child, Tree))


def _describe_terminal(terminal: str, pattern: LarkPattern | None) -> str:
    """Describe a terminal by its text if that is fixed, else by its name."""
    if pattern is None:  # Lark's own terminal for the end
        return "the end of the line"
    if pattern.type == "str":
        return f"`{pattern.value}`"
    return "number" if terminal == "INT" else terminal.lower().replace("_", " ")


def _literal_text(node: "Tree[Symbol]") -> str:
    text = str(node.children[0])
    return text[1:-1].encode().decode("unicode_escape")


_PREFIX_LENGTH = 4  # characters that nearly always determine the rule
_MAX_CACHED_PREFIXES = 4096  # only a file that is not a dump has more


@dataclass(frozen=True, slots=True)
class LineRule:
    """A rule of a grammar and the constructor of its records."""

    name: str
    grammar: Grammar
    expression: Pattern[str]
    opening: str
    make_record: Callable[[Match[str]], Record]

    @classmethod
    def of(cls, grammar: Grammar, name: str, make: Callable[[Match[str]], Record]) -> "LineRule":
        """Return the rule of this name in the grammar."""
        return cls(name, grammar, grammar.expression(name), grammar.opening(name), make)

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
