"""The program ``hlo-lsp``, which is also ``python -m hlo_lsp``."""

import sys

from hlo_lsp.import_path import leave_out_current_folder


def main() -> int:
    """Run the command line, and return its exit status."""
    leave_out_current_folder()
    from hlo_lsp.cli.main import main as run  # noqa: PLC0415  # it imports the standard library

    return run()


if __name__ == "__main__":  # a worker of MPI imports this module under another name
    sys.exit(main())
