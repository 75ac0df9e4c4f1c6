"""The hover of an option in the files that list the options of a compile."""

import re

from hlo_lsp.display.cards import Card, Fact
from hlo_lsp.hlo.vocabulary import read_toml
from hlo_lsp.syntax.instruction_text import TextSpan

_OPTION = re.compile(r"(?:--)?(\w+)(?=[:=]| \{)")


def option_card(line: str, column: int) -> tuple[Card, TextSpan] | None:
    """Return what the option of a line does, and its name; None if that is unknown."""
    match = _OPTION.match(line)
    if match is None or not match.start() <= column <= match.end():
        return None
    name = TextSpan(*match.span(1), match[1])
    option = read_toml("compiler_options").get(name.text)
    if option is None:
        return None
    facts = (
        Fact(value, f"each {' and '.join(option['collectives'])} is synchronous")
        for value in option.get("forbids", ())
    )
    return Card(name.text, tuple(facts), option["text"]), name
