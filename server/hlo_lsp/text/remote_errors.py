"""Errors of remote files, as sentences for the user."""

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

from hlo_lsp.text.urls import public

NO_ANSWER = "the server did not answer in time"
LOST = "the connection was lost"
_MIN_SERVER_ERROR = 500  # an HTTP status
_TRUST = "name its authority with SSL_CERT_FILE, or for S3 with AWS_CA_BUNDLE"
_NO_CREDENTIALS = re.compile("Anonymous caller|No authentication methods")  # of gcsfs, paramiko
_LOST_NAMES = re.compile(
    "ClientPayload|Disconnected|IncompleteRead|Connection(Reset|Closed)|EOFError"
)
_LOST_SSH = re.compile("Server connection dropped|Socket is closed|SSH session not active")
_STATUS_KEYS = ("status", "code", "status_code")  # of errors
_STATUS_REASONS = {401: "access denied", 403: "access denied", 404: "no such file or folder"}


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


_REASONS_BY_NAME = {
    "TooManyRedirects": "the server redirects without an end",
    "Timeout": NO_ANSWER,
}


def _reason(error: BaseException) -> str:
    """Return a sentence on an error; the classes are those of packages that may be missing."""
    cause = error.__cause__
    # For HTTP, fsspec says that a file is missing whatever the reason is.
    if isinstance(error, FileNotFoundError) and cause and "botocore" not in type(cause).__module__:
        error = cause
    names = " ".join(kind.__name__ for kind in type(error).__mro__)
    status = next(filter(None, (getattr(error, key, None) for key in _STATUS_KEYS)), None)
    status = status or _s3_status(cause)
    first = _first_line(error)
    no_credentials = f"no credentials, or wrong ones ({first})"
    if re.search("Credential|Authentication", names) or _NO_CREDENTIALS.search(first):
        return no_credentials
    if isinstance(status, int):
        return f"{_STATUS_REASONS.get(status, 'the server failed')} (HTTP {status})"
    if isinstance(error, FileNotFoundError):
        return "no such file or folder"
    is_forbidden = first.startswith("Forbidden:")  # of gcsfs, with the reason on the next line
    if is_forbidden:
        first = _first_line(str(error).partition("\n")[2] or error)
    if is_forbidden or isinstance(error, PermissionError):
        return f"access denied ({first})"
    named = next((reason for name, reason in _REASONS_BY_NAME.items() if name in names), None)
    if named is not None:
        return named
    if _LOST_NAMES.search(names) or _LOST_SSH.match(first):
        return LOST
    untrusted = re.search(r"certificate verify failed: ([^(]*[^( ])", first)
    if untrusted is not None:
        return f"the certificate of the server is not trusted ({untrusted[1]}); {_TRUST}"
    if "Connect" in names or "SSH protocol banner" in first:
        return f"cannot connect ({first})"
    if "support range requests" in first:
        return "the server sends whole files only; copy the archive to this machine"
    return no_credentials if "credential" in first.lower() else first  # by adlfs


def _s3_status(cause: BaseException | None) -> int | None:
    """Return the HTTP status of an answer of S3, for which its text says nothing useful."""
    response = getattr(cause, "response", {})
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status if status >= _MIN_SERVER_ERROR else None


def _first_line(error: BaseException | str) -> str:
    """Return the first line of an error or of its text, without passwords."""
    text = re.sub(r"^\[Errno \w+\] | ssl:default", "", str(error).strip().partition("\n")[0])
    text = re.sub(r"\S+://\S+", lambda url: public(url[0]), text)
    return text or type(error).__name__
