"""``hlo-lsp rule``: what a rule says, and why it always holds."""

import argparse
import json
import sys

from rich.console import Console

from hlo_lsp.checks.config.options import codes_of
from hlo_lsp.checks.explanations import Explanation, explanations
from hlo_lsp.checks.output.rule_text import rule_card, rule_json, rule_markdown, rules_page
from hlo_lsp.lsp.terminal import make_console, print_card, print_rules

_USAGE_ERROR_STATUS = 2


def run(options: argparse.Namespace) -> int:
    """Print rules; without codes what each rule is about."""
    try:
        wanted = {code for word in options.codes for code in codes_of(word)}
    except LookupError as error:
        print(f"hlo-lsp: {error.args[0]}", file=sys.stderr)
        return _USAGE_ERROR_STATUS
    told = [one for code, one in explanations().items() if code in wanted or not wanted]
    form = options.format or ("markdown" if options.all else "text")
    if form == "json":
        print(json.dumps([rule_json(one) for one in told]))
    elif form == "markdown":
        if wanted:
            print("\n".join(f"### {one.code}\n\n{rule_markdown(one)}" for one in told), end="")
        else:
            print(rules_page(), end="")
    elif wanted or options.all:
        _print_cards(make_console(), told)
    else:
        print_rules(make_console(), told)
    return 0


def _print_cards(console: Console, told: list[Explanation]) -> None:
    for number, one in enumerate(told):
        if number:
            console.print()
        print_card(console, rule_card(one))
