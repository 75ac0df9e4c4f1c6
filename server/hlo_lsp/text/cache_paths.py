"""The names of folders in the cache of remote files."""

import os

CACHE_NAME = "hlo-lsp-remote"
CACHE_MARK = os.path.join("", CACHE_NAME, "trees", "")  # in the paths of all remote files
