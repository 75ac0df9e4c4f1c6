"""Copies of remote folders."""

import shutil
from collections.abc import Callable
from concurrent.futures import Future, wait
from pathlib import Path
from tempfile import mkdtemp

from hlo_lsp.text.downloads import downloads, is_complete, is_left_over
from hlo_lsp.text.file_systems import RemoteFile, list_tree
from hlo_lsp.text.remote_errors import RemoteError
from hlo_lsp.text.urls import public

_PARTIAL_PREFIX = ".hlo-lsp-partial-"


def pull(
    url: str, folder: Path, report: Callable[[int, int, int], None] = lambda *_: None
) -> tuple[int, int, dict[str, OSError]]:
    """Copy the files below a URL into a folder; files that are there already are not read again.

    Args:
        url: The URL of a folder or of a file.
        folder: The folder, which is created.
        report: Called with the number of complete files, of all files, and of new bytes.

    Returns:
        The number of files, the number of those that were downloaded, and the errors by URL.

    Raises:
        RemoteError: The URL cannot be listed.
        OSError: The folder cannot be written.
    """
    tree = list_tree(url)
    top = tree.top
    files = tree.files if top in tree.folders else {top: tree.files[top]}
    start = top if top in tree.folders else top.parent
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{_PARTIAL_PREFIX}*"):
        if is_left_over(old):
            shutil.rmtree(old, ignore_errors=True)
    # Others may copy into the same folder meanwhile.
    partial = Path(mkdtemp(prefix=_PARTIAL_PREFIX, dir=folder))
    errors: dict[str, OSError] = {}
    try:
        futures: dict[Future[RemoteFile], RemoteFile] = {}
        for path, file in files.items():
            target = folder / path.relative_to(start)
            if path in tree.folders:  # a bucket permits both
                errors[public(file.url)] = RemoteError("not copied, because a folder has this name")
            elif not is_complete(target, file):
                try:
                    target.parent.mkdir(parents=True, exist_ok=True)
                except OSError as error:
                    errors[public(file.url)] = error
                else:
                    futures[downloads().start(file, target, partial)] = file
        left, copied, size = set(futures), 0, 0
        while left:
            report(len(files) - len(left), len(files), size)
            done, left = wait(left, 1, "FIRST_COMPLETED")
            for future in done:
                try:
                    size += future.result().size
                    copied += 1
                except OSError as error:
                    errors[public(futures[future].url)] = error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return len(files), copied, errors
