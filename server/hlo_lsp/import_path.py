"""The folders that Python imports from, without the current one.

The current folder often has dumps that others made, and a file ``json.py`` beside a dump must not
run. This module imports only what is loaded before the path is known.
"""

import os
import sys


def keep_absolute_import_path() -> None:
    """Let this process import from no path that depends on the current folder."""
    sys.path[:] = filter(os.path.isabs, sys.path)


def leave_out_current_folder() -> None:
    """Let this process import from the current folder only if the user has named it.

    ``python -m`` puts it first on the path.
    """
    try:
        if not getattr(sys.flags, "safe_path", False) and sys.path[0] == os.getcwd():
            del sys.path[0]
    except OSError:  # a folder that was deleted
        pass
    keep_absolute_import_path()
