"""``python -m hlo_lsp`` is ``hlo-lsp``."""

import sys

from hlo_lsp.cli.main import main

if __name__ == "__main__":  # a worker of MPI imports this module under another name
    sys.exit(main())
