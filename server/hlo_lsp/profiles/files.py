"""The files of a profile, and their content."""

import io
from collections.abc import Iterator
from pathlib import Path

from hlo_lsp.profiles.events import Profile, ProfileRun
from hlo_lsp.profiles.trace_json import NotATraceError, read_trace
from hlo_lsp.profiles.xplane import note_damage, read_planes
from hlo_lsp.protos.names import TRACE_ENDINGS, XPLANE_ENDINGS
from hlo_lsp.protos.profile_modules import planes_of
from hlo_lsp.text import disk
from hlo_lsp.text.compression import DAMAGES, GZIP_MARK, ExpansionError, expanded, pieces
from hlo_lsp.text.disk import UnreadableError, unreadable
from hlo_lsp.text.remote import shown

_MAX_BYTES = 4 << 30


def profile_run(path: Path) -> ProfileRun:
    """Return the run of a profile: the file itself, or the newest run below a folder.

    Raises:
        UnreadableError: The folder has no profile.
    """
    if not path.is_dir():
        return ProfileRun(path, (path,))
    for endings in (XPLANE_ENDINGS, TRACE_ENDINGS):
        found = [one for one in path.rglob("*") if one.name.endswith(endings) and one.is_file()]
        if found:
            # JAX names the folder of a run by its date, in folders that the user names.
            runs = {one.parent for one in found}
            newest = max(runs, key=lambda run: (run.name, run))
            files = sorted(one for one in found if one.parent == newest)
            return ProfileRun(newest, tuple(files), len(runs) - 1)
    raise UnreadableError(
        f"{shown(path)}: no profile in this folder: no *.xplane.pb or *.trace.json.gz"
    )


def read_profile(run: ProfileRun) -> Profile:
    """Return what the files of a run contain.

    Raises:
        UnreadableError: A file cannot be read, or none is a profile.
    """
    profile = Profile(run)
    for path in run.files:
        host = "" if len(run.files) == 1 else f"{path.name.partition('.')[0]} "
        if path.name.endswith(TRACE_ENDINGS):
            try:
                read_trace(_pieces(path), profile, shown(path), host)
            except NotATraceError as error:
                raise UnreadableError(f"{shown(path)}: not a profile: {error}") from None
        else:
            _read_xplane(path, profile, host)
    profile.assign_by_time()
    return profile


def _read_xplane(path: Path, profile: Profile, host: str) -> None:
    content = io.BytesIO()  # unlike a list of parts, it needs no copy
    for piece in _pieces(path):
        content.write(piece)
    planes, damage = planes_of(content.getvalue())
    del content
    note_damage(profile, damage, shown(path))
    before = len(profile.programs) + len(profile.planes) + len(profile.unnamed)
    read_planes(planes, profile, shown(path), host)
    if len(profile.programs) + len(profile.planes) + len(profile.unnamed) == before:
        reason = "it contains no module and no event of an instruction"
        raise UnreadableError(f"{shown(path)}: not a profile of XLA: {reason}")


def _pieces(path: Path) -> Iterator[bytes]:
    """Yield the content of a file, which may be compressed whatever its name is."""
    try:
        with disk.open_regular_file(path) as file:
            is_compressed = file.read(len(GZIP_MARK)) == GZIP_MARK
            file.seek(0)
            try:
                yield from pieces(expanded(file, ".gz" if is_compressed else ""), _MAX_BYTES)
            except ExpansionError as error:
                raise UnreadableError(f"{shown(path)}: {error}") from None
            except DAMAGES as error:
                if not is_compressed:
                    raise
                raise UnreadableError(
                    f"{shown(path)}: not a profile: the compressed data is damaged ({error})"
                ) from None
    except OSError as error:
        raise unreadable(path, error) from error
