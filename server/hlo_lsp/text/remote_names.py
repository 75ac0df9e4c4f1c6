"""The names of remote files: URLs as a user writes them and as messages show them, and paths."""

import os
import re

CACHE_NAME = "hlo-lsp-remote"
CACHE_MARK = os.path.join("", CACHE_NAME, "trees", "")  # in the paths of all remote files

_PROTOCOL = re.compile(r"(?:^|(?<=::))[A-Za-z][A-Za-z0-9+.-]+(?=://|::)")
NAME_COLON = ":\0"
"""A colon in the name of a file, where two colons would begin another URL."""


def protocols_of(url: str) -> list[str]:
    """Return the protocols of a URL, such as ``zip`` and ``s3`` of ``zip://a::s3://b/c.zip``."""
    return _PROTOCOL.findall(url)


def normalized(url: str) -> str:
    """Return a URL with its protocols in lower case, as fsspec knows them."""
    return _PROTOCOL.sub(lambda found: found[0].lower(), url)


def public(url: str) -> str:
    """Return a URL without a password, a token, and a signature, to show it."""
    url = re.sub(r"\?.*?(?=::|$)", "", normalized(url)).replace(NAME_COLON, ":")
    url = re.sub(r"(https?://[^#]*?)#.*?(?=::|$)", r"\1", url)
    url = re.sub(r"(https?://)[^/@:]*@", r"\1***@", url)
    return re.sub(r"(://[^/@:]*):[^/]*@", r"\1:***@", url)
