"""The options of ``hlo-lsp compile``."""

import argparse

from hlo_lsp.cli.shared_options import (
    FORMATS,
    add_paths,
    add_python_option,
    add_top_option,
    chip_name,
    dump_path,
    names_of,
)

_CHIPS = ("v2", "v3", "v4", "v5e", "v5p", "v6e", "tpu7x")


def add_compile_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_paths(parser, "path", nargs=None)
    parser.add_argument(
        "--chip",
        metavar="CHIP",
        type=chip_name,
        choices=_CHIPS,
        help=f"the chip to compile for: {names_of(_CHIPS)} (default: that of the dump)",
    )
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
    parser.add_argument(
        "--with",
        dest="edited",
        metavar="FILE",
        type=dump_path,
        help="an edited module text to compile in place of that of the dump",
    )
    add_python_option(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="keep the new dump in this folder, which must be empty",
    )
    add_top_option(parser, 10, "the number of entries to show in each list")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default=FORMATS[0],
        help=f"the output format (default: {FORMATS[0]})",
    )
