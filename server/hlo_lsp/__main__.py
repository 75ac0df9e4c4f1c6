"""The program ``hlo-lsp``, which is also ``python -m hlo_lsp``."""

import sys

from hlo_lsp.import_path import leave_out_current_folder


def main() -> int:
    """Run the command line, and return its exit status."""
    leave_out_current_folder()
    import signal  # noqa: PLC0415  # not before, as a file in the current folder can have its name

    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_default:  # Ctrl-C during the imports would print a traceback
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from hlo_lsp.cli.main import main as run  # noqa: PLC0415  # it imports the standard library

    if is_default:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()


if __name__ == "__main__":  # a worker of MPI imports this module under another name
    sys.exit(main())
