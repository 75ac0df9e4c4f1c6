"""Which instruction a thunk runs."""

import re

from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.thunk_scanner import ThunkRow

_INFO = re.compile(
    r'thunk_info \{\s*profile_annotation: "(?P<name>[^"]+)"\s*thunk_id: (?P<id>\d{1,18})\s*\}'
)


def instruction_of(dump: DumpSet, thunk: ThunkRow) -> str | None:
    """The instruction's name, or None where nothing says it.

    The thunk's own annotation counts most, then ``thunk_metadata.txt``, then a kernel name that
    fits just one instruction: equal kernels are shared, so a name can be another instruction's.
    """
    if thunk.annotation is not None:
        return thunk.annotation
    if dump.thunk_names is not None:
        names_by_id = dump.derived(_annotations, [dump.thunk_names])
        return None if thunk.id is None else names_by_id.get(thunk.id)
    if thunk.kernel is None:
        return None
    names = dump.derived(_kernel_names, dump.files).get(thunk.kernel, [])
    return names[0] if len(names) == 1 else None


def _annotations(dump: DumpSet) -> dict[int, str]:
    text = "" if dump.thunk_names is None else dump.thunk_names.document.text
    return {int(info["id"]): info["name"] for info in _INFO.finditer(text)}


def _kernel_names(dump: DumpSet) -> dict[str, list[str]]:
    """Instructions by the name that their kernel would get: dots become underscores."""
    names: dict[str, list[str]] = {}
    for file in dump.files:
        for name in file.module.instructions:
            names.setdefault(re.sub(r"[.\-]", "_", name), []).append(name)
    return names
