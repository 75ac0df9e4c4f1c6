"""Folders whose content no other user can choose."""

import os
import stat
import sys
from pathlib import Path

_MAX_LINKS = 40  # as of Linux, in one path


class NotPrivateError(Exception):
    """Another user can change what is in a folder; the message is the reason."""


def require_private(folder: Path) -> None:
    """Check that only this user and the system can change the content of an existing folder.

    As ssh does for its files, this checks the folder, those above it, and the links on the way to
    it: whoever can rename one of them chooses what the folder contains. On Windows, the folders of
    a user are private by their access lists, which are not checked.

    Raises:
        NotPrivateError: Another user can, or the folder is a link.
        OSError: A folder cannot be examined.
    """
    if sys.platform == "win32":
        return
    if folder.is_symlink():
        raise NotPrivateError(f"{folder} is a link")
    _require_owned_path(folder.parent, _MAX_LINKS)
    _require_owned(folder, is_above=False)


def _require_owned_path(path: Path, links: int) -> None:
    for part in (*reversed(path.parents), path):
        _require_owned(part, is_above=True)
        if part.is_symlink():
            if not links:
                raise NotPrivateError(f"{part}: too many links")
            _require_owned_path(Path(os.path.abspath(part.parent / os.readlink(part))), links - 1)


def _require_owned(path: Path, *, is_above: bool) -> None:
    status = path.lstat()
    # In a container, the owner of the root folder can be another user than 0.
    if status.st_uid not in {os.getuid(), 0, os.stat("/").st_uid}:
        raise NotPrivateError(f"{path} belongs to another user")
    # In a sticky folder, others cannot rename what they do not own. Links have no permissions.
    if stat.S_ISLNK(status.st_mode) or (is_above and status.st_mode & stat.S_ISVTX):
        return
    is_shared = status.st_mode & stat.S_IWGRP and not _is_private_group(status.st_gid)
    if is_shared or status.st_mode & stat.S_IWOTH:
        raise NotPrivateError(f"other users can write to {path}")


def _is_private_group(number: int) -> bool:
    """Return whether a group is that of the system, or has this user as its only member."""
    import grp  # noqa: PLC0415  # Windows has no such module
    import pwd  # noqa: PLC0415

    try:
        group, user = grp.getgrgid(number), pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return number == 0
    return number == 0 or (group.gr_name == user and set(group.gr_mem) <= {user})


def has_link(folder: Path, relative: str) -> bool:
    """Return whether a path in a folder leads through a link; missing parts are none."""
    real = os.path.realpath(os.path.join(folder, relative))
    expected = os.path.normpath(os.path.join(os.path.realpath(folder), relative))
    return os.path.normcase(real) != os.path.normcase(expected)
