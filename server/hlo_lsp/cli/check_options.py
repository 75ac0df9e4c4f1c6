"""The options of the commands of the checker."""

import argparse

from hlo_lsp.cli.answers import add_other_answers
from hlo_lsp.cli.shared_options import (
    add_all_option,
    add_answer_options,
    add_paths,
    add_worker_options,
    names_of,
)

_SEVERITIES = ("error", "warning", "information", "hint")


def add_check_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``hlo-lsp check``."""
    add_paths(parser, nargs="*")
    add_other_answers(parser, "check")
    parser.add_argument(
        "--select",
        metavar="CODE,...",
        action="append",
        help="use only these rules: codes, first words of codes such as `live-range`, `default`,"
        " or `all`",
    )
    parser.add_argument(
        "--ignore", metavar="CODE,...", action="append", help="leave out these rules"
    )
    parser.add_argument(
        "--severity",
        metavar="SEVERITY",
        choices=_SEVERITIES,
        help="the lowest severity that is shown and affects the exit status: "
        f"{names_of(_SEVERITIES)} (default: all are shown, errors and warnings affect it)",
    )
    add_all_option(parser)
    parser.add_argument(
        "--budget",
        dest="budgets",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="report modules above a limit, such as `peak=15GiB`, as errors; the keys are those of"
        " [[budget]] in hlo-lsp.toml: peak, total (allocated bytes), padding, constant, forbidden,"
        " donated, flops, bytes, least_time",
    )
    parser.add_argument(
        "--statistics", action="store_true", help="print only the number of findings for each code"
    )
    parser.add_argument(
        "--exit-zero", action="store_true", help="exit with 0 even if there are findings"
    )
    parser.add_argument(
        "--watch", action="store_true", help="check again when files change, until Ctrl-C"
    )
    add_worker_options(parser)
    add_answer_options(parser, "sarif", "github")
