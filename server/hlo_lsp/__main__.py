"""``python -m hlo_lsp`` is ``hlo-lsp``."""

import sys

from hlo_lsp.cli.main import main

sys.exit(main())
