"""``hlo-lsp text``: print a proto, a compressed file, or an archive as text."""

import argparse
import shutil
import sys
from io import StringIO

from hlo_lsp.cli.errors import CommandError
from hlo_lsp.cli.printing import print_errors
from hlo_lsp.protos.reading import damage_in, read_document
from hlo_lsp.text.disk import UnreadableError
from hlo_lsp.text.inert import printable_lines


def run(options: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    try:
        document = read_document(options.path)
    except UnreadableError as error:
        raise CommandError(str(error)) from None
    is_exact = not sys.stdout.isatty()
    text = document.text if is_exact else printable_lines(document.text)
    shutil.copyfileobj(StringIO(text), sys.stdout)
    damage = damage_in(options.path, document.lines)
    return print_errors([] if damage is None else [damage])
