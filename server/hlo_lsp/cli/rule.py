"""``hlo-lsp rule``: explain the rules of the checker."""

import argparse
import json
import sys

from rich.console import Console

from hlo_lsp.checks.explanations import Explanation, explanations
from hlo_lsp.checks.options import codes_of
from hlo_lsp.checks.output import rule_card, rule_json, rule_markdown, rules_page
from hlo_lsp.lsp.terminal import make_console, print_card, print_rules

_USAGE_ERROR_STATUS = 2


def run(options: argparse.Namespace) -> int:
    """Print rules in detail, or one line for each rule if no code is given."""
    try:
        wanted = {code for word in options.codes for code in codes_of(word)}
    except LookupError as error:
        print(f"hlo-lsp: {error.args[0]}", file=sys.stderr)
        return _USAGE_ERROR_STATUS
    selected = [rule for code, rule in explanations().items() if code in wanted or not wanted]
    form = options.format or ("markdown" if options.all else "text")
    if form == "json":
        print(json.dumps([rule_json(rule) for rule in selected]))
    elif form == "markdown":
        if wanted:
            print(
                "\n".join(f"### {rule.code}\n\n{rule_markdown(rule)}" for rule in selected), end=""
            )
        else:
            print(rules_page(), end="")
    elif wanted or options.all:
        _print_cards(make_console(), selected)
    else:
        print_rules(make_console(), selected)
    return 0


def _print_cards(console: Console, selected: list[Explanation]) -> None:
    for number, rule in enumerate(selected):
        if number:
            console.print()
        print_card(console, rule_card(rule))
