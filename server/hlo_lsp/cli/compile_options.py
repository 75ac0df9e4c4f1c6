"""The options of ``hlo-lsp compile``."""

import argparse

from hlo_lsp.cli.shared_options import (
    TPUS,
    add_chip_option,
    add_format_option,
    add_path,
    add_paths,
    add_python_option,
    add_top_option,
)


def add_compile_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_paths(parser, "path", nargs=None)
    add_chip_option(parser, "the chip to compile for", TPUS)
    parser.add_argument(
        "--topology",
        metavar="TOPOLOGY",
        help="the slice of a TPU, such as v5e:4x4 (default: that of the dump)",
    )
    parser.add_argument(
        "--flag",
        dest="flags",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="an option of XLA or libtpu (repeat it for more)",
    )
    parser.add_argument(
        "--donate",
        metavar="ARGUMENT",
        nargs="*",
        help="donate arguments by name, pattern, or number (such as `params*`; without one, all"
        " that an output can use)",
    )
    parser.add_argument(
        "--no-donate", action="store_true", help="donate no argument that the program donates"
    )
    what = "an edited module text to compile in place of that of the dump"
    add_path(parser, "--with", what, "FILE", dest="edited")
    add_python_option(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="keep the new dump in this folder, which must be empty",
    )
    add_top_option(parser, 10, "the number of entries to show in each list")
    add_format_option(parser)
