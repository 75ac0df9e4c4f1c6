"""Copies of remote folders."""

import shutil
from collections.abc import Callable
from concurrent.futures import Future, wait
from pathlib import Path

from hlo_lsp.text.downloads import downloads, is_complete
from hlo_lsp.text.file_systems import RemoteFile, list_tree, public


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
    partial = folder / ".hlo-lsp-partial"
    partial.mkdir(parents=True, exist_ok=True)
    errors: dict[str, OSError] = {}
    try:
        futures: dict[Future[RemoteFile], RemoteFile] = {}
        for path, file in files.items():
            target = folder / path.relative_to(start)
            if not is_complete(target, file):
                target.parent.mkdir(parents=True, exist_ok=True)
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
