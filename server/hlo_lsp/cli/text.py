"""``hlo-lsp text``: print a proto, a compressed file, or an archive as text."""

import argparse
import shutil
import sys
from importlib import import_module
from io import StringIO

from hlo_lsp.cli.printing import print_errors, write_file
from hlo_lsp.cli.shared_options import dump_path
from hlo_lsp.protos.reading import damage_in, read_document
from hlo_lsp.text.inert import printable_lines
from hlo_lsp.text.remote import is_url


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    if options.output not in {None, "-"} and all(map(is_url, options.paths)):
        copy: int = import_module("hlo_lsp.cli.pull").run(options)
        return copy
    errors = []
    texts = []
    for path in map(dump_path, options.paths):
        document = read_document(path)
        texts.append(document.text)
        damage = damage_in(path, document.lines)
        errors += [] if damage is None else [damage]
    if options.output not in {None, "-"}:
        write_file(options.output, "".join(texts).encode())
    else:
        for text in texts:
            shown = printable_lines(text) if sys.stdout.isatty() else text
            shutil.copyfileobj(StringIO(shown), sys.stdout)
    return print_errors(errors)
