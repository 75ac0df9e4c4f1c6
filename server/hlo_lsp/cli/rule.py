"""``hlo-lsp check --explain``: explain the rules of the checker."""

import argparse

from hlo_lsp.checks.framework.explanations import explanations
from hlo_lsp.checks.framework.options import codes_of
from hlo_lsp.checks.rule_pages import rule_card, rule_json, rule_markdown, rules_page
from hlo_lsp.checks.terminal import print_rules
from hlo_lsp.cli.errors import CommandError
from hlo_lsp.cli.printing import print_json
from hlo_lsp.display.terminal import make_console, print_card


def run(options: argparse.Namespace) -> int:
    """Print rules in detail, or one line for each rule if no code is given."""
    try:
        wanted = {code for path in options.paths for code in codes_of(str(path))}
    except LookupError as error:
        raise CommandError(error.args[0]) from None
    selected = [rule for code, rule in explanations().items() if code in wanted or not wanted]
    if options.format == "json":
        print_json({"rules": [rule_json(rule) for rule in selected]})
    elif options.format == "markdown":
        sections = [f"### {rule.code}\n\n{rule_markdown(rule)}" for rule in selected]
        is_whole = len(selected) == len(explanations())
        print(rules_page() if is_whole else "\n".join(sections), end="")
    elif wanted:
        for number, rule in enumerate(selected):
            if number:
                print()
            print_card(make_console(), rule_card(rule))
    else:
        print_rules(make_console(), selected)
    return 0
