"""The command line that starts ``hlo-lsp`` as a process."""

import sys
from pathlib import Path

_SCRIPT = Path(sys.executable).with_name("hlo-lsp")
COMMAND = [str(_SCRIPT)] if _SCRIPT.exists() else [sys.executable, "-m", "hlo_lsp"]
