"""Errors of remote files, as sentences for the user."""

import errno
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from hlo_lsp.text.remote_names import public

NO_ANSWER = "the server did not answer in time"
LOST = "the connection was lost"
_LOST_NAMES = re.compile(
    "ClientPayload|Disconnected|IncompleteRead|Connection(Reset|Closed)|EOFError"
)
_LOST_SSH = re.compile("Server connection dropped|Socket is closed|SSH session not active")
_NOT_FOUND = 404
# Of fsspec, with the package for a kind of URLs.
_MISSING = re.compile(r'[Ii]nstall (?!the )(\w+)|requires "(\w+)|(?:named \'|of )(aiohttp)')
# By words in the names of the classes of an error and in its text.
_HINTS = (
    (
        re.compile(r"certificate verify failed", re.IGNORECASE),
        "name the authority of the certificate with SSL_CERT_FILE, or for S3 with AWS_CA_BUNDLE",
    ),
    (
        re.compile(r"credential|authenti|anonymous|forbidden|permission|\b40[13]\b", re.IGNORECASE),
        "check the credentials",
    ),
    (re.compile("support range requests"), "copy the archive to this machine"),
)


def installing(package: str) -> str:
    """Return the command that installs a package for this interpreter."""
    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    return f'{python} -m pip install "{package}"'


class RemoteError(OSError):
    """A remote file or folder that cannot be read; ``strerror`` is for the user."""

    def __init__(self, reason: str | None, url: str | None = None) -> None:
        super().__init__(errno.EIO, reason)
        self.url = url

    def __reduce__(self) -> tuple[type["RemoteError"], tuple[str | None, str | None]]:
        return RemoteError, (self.strerror, self.url)

    def __str__(self) -> str:
        return f"{self.url}: {self.strerror}" if self.url else str(self.strerror)


@contextmanager
def remote_errors(url: str | None) -> Iterator[None]:
    """Turn all errors of file systems into a ``RemoteError`` for the user."""
    try:
        yield
    except RemoteError as error:
        raise RemoteError(error.strerror, url and public(url)) from error
    except Exception as error:
        if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise
        raise RemoteError(_reason(error), url and public(url)) from error


def _reason(error: BaseException) -> str:
    """Return the first line of an error, and a hint.

    The classes of errors are those of packages that may be missing.
    """
    cause = error.__cause__
    # For HTTP, fsspec says that a file is missing whatever the reason is.
    if isinstance(error, FileNotFoundError) and cause and "botocore" not in type(cause).__module__:
        error = cause
    # The texts of errors of HTTP and S3 say no more than the status.
    response = getattr(cause, "response", {}).get("ResponseMetadata", {})
    status = getattr(error, "status", None) or response.get("HTTPStatusCode")
    if isinstance(error, FileNotFoundError) or _NOT_FOUND in {status, getattr(error, "code", 0)}:
        return "no such file or folder"
    names = " ".join(kind.__name__ for kind in type(error).__mro__)
    if "Timeout" in names:
        return NO_ANSWER
    first = f"HTTP {status}" if status else _first_line(error)
    if _LOST_NAMES.search(names) or _LOST_SSH.match(first):
        return LOST
    missing = _MISSING.search(first) if isinstance(error, ImportError) else None
    if missing is not None:
        return f"{first}: {installing(missing[missing.lastindex or 0])}"
    words = f"{names} {first} {error}"
    hint = next((hint for pattern, hint in _HINTS if pattern.search(words)), None)
    return first if hint is None else f"{first}; {hint}"


def _first_line(error: BaseException | str) -> str:
    """Return the first line of an error or of its text, without passwords."""
    text = re.sub(r"^\[Errno \w+\] | ssl:default", "", str(error).strip().partition("\n")[0])
    text = re.sub(r"\S+://\S+", lambda url: public(url[0]), text)
    return text or type(error).__name__
