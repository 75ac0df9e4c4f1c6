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

    ``python -m`` puts it first on the path. Python also adds the relative and the empty entries of
    ``PYTHONPATH``, as absolute ones.
    """
    try:
        if not getattr(sys.flags, "safe_path", False) and sys.path[0] == os.getcwd():
            del sys.path[0]
        relative = set() if sys.flags.ignore_environment else relative_python_path()
        sys.path[:] = [path for path in sys.path if path not in relative]
    except OSError:  # The current folder was deleted, so there are no relative paths.
        os.chdir(os.path.abspath(os.sep))
    keep_absolute_import_path()


def relative_python_path() -> set[str]:
    """Return the relative entries of ``PYTHONPATH`` as absolute paths."""
    value = os.environ.get("PYTHONPATH", "")
    entries = value.split(os.pathsep) if value else []
    return {os.path.abspath(entry) for entry in entries if not os.path.isabs(entry)}
