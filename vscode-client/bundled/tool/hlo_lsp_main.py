"""Run hlo-lsp from the libraries that the extension bundles."""

import os
import sys

# First, so that no other version of these packages in the user's environment is imported.
_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(_FOLDER, "libs"))

if __name__ == "__main__":
    from hlo_lsp.__main__ import main

    sys.exit(main())
