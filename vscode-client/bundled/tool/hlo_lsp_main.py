"""Run hlo-lsp from the libraries that the extension bundles.

Worker processes import this file again, so everything but the path is behind the guard.
"""

import sys
from pathlib import Path

# First, so that no other version of these packages in the user's environment is imported.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "libs"))

if __name__ == "__main__":
    from hlo_lsp.cli.main import main

    sys.exit(main())
