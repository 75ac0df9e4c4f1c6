"""``python -m hlo_lsp`` is ``hlo-lsp``."""

import sys

from hlo_lsp.cli import main

sys.exit(main())
