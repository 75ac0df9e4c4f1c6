"""The names of files that are converted to text when they are read."""

from collections.abc import Container

_PROTO_ENDINGS = (".hlo.pb", ".hlo_proto.pb", ".hlo_snapshot.pb")
XPLANE_ENDINGS = (".xplane.pb", ".xplane.pb.gz")
TRACE_ENDINGS = (".trace.json.gz", ".trace.json")
"""The endings of the files of profiles; only the first can have the modules that ran."""
_COMPRESSED_ENDINGS = (".gz", ".xz", ".bz2")
_ARCHIVE_ENDINGS = (".tar", ".tgz", ".txz", ".tbz2")
DAMAGE_MARK = "Damaged: "
"""The beginning of the text of a damaged file."""


def is_converted(name: str) -> bool:
    """Return True if a file of this name is a proto, or compressed, or an archive."""
    return name.endswith((".pb", *_COMPRESSED_ENDINGS, *_ARCHIVE_ENDINGS))


def is_profile(name: str) -> bool:
    """Return True for the name of a profile, which contains the modules that ran."""
    return name.endswith(XPLANE_ENDINGS[0])


def text_name(name: str) -> str | None:
    """Return the name of the text that a proto or a compressed file of a dump contains.

    It is None for texts, and for archives and other protos, which are only read by name.
    """
    inner = uncompressed_name(name)
    for ending in _PROTO_ENDINGS:
        if inner.endswith(ending):
            return f"{inner.removesuffix(ending)}.txt"
    return inner if inner != name and inner.endswith((".txt", ".hlo")) else None


def is_skipped(name: str, names: Container[str]) -> bool:
    """Return True if the file of a folder with these names is only read if the user names it.

    Archives may hold anything, and the proto of a text has the same content as the text.
    """
    text = text_name(name)
    return is_converted(name) if text is None else text in names


def uncompressed_name(name: str) -> str:
    """Return the name without the ending of a compression."""
    for ending in _COMPRESSED_ENDINGS:
        if name.endswith(ending):
            return name.removesuffix(ending)
    short = {".tgz": ".tar", ".txz": ".tar", ".tbz2": ".tar"}
    for ending, full in short.items():
        if name.endswith(ending):
            return name.removesuffix(ending) + full
    return name


def module_stem(name: str) -> str:
    """Return the name of a proto without its ending."""
    text = text_name(name)
    return name.removesuffix(".pb") if text is None else text.removesuffix(".txt")
