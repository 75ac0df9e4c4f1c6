"""Instructions that GPU thunks run."""

import re
from collections import Counter

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.model.query import query
from hlo_lsp.syntax.file_kinds import FileKind
from hlo_lsp.syntax.instruction_text import parse_instruction
from hlo_lsp.syntax.module_records import ComputationLine
from hlo_lsp.syntax.scanners import ThunkRow

_THUNK_INFO = re.compile(
    r'thunk_info \{\s*profile_annotation: "(?P<name>[^"]+)"\s*thunk_id: (?P<id>\d{1,18})\s*\}'
)


def thunk_instruction(dump: DumpSet, thunk: ThunkRow) -> str | None:
    """Return the name of the instruction that a thunk runs, or None if it is unknown.

    The sources in order of precedence: the annotation of the thunk, ``thunk_metadata.txt``, and the
    kernel name if only this thunk runs the kernel and only one instruction matches it. Equal
    kernels share the name of one of their instructions.
    """
    if thunk.annotation is not None:
        return thunk.annotation
    if dump.thunk_names is not None:
        names_by_id = _instructions_by_thunk_id(dump)
        return None if thunk.id is None else names_by_id.get(thunk.id)
    if thunk.kernel is None:
        return None
    if _thunks_per_kernel(dump)[thunk.kernel] > 1:
        return None
    names = _instructions_by_kernel_name(dump).get(thunk.kernel, [])
    return names[0] if len(names) == 1 else None


@query
def _instructions_by_thunk_id(dump: DumpSet) -> dict[int, str]:
    text = "" if dump.thunk_names is None else "\n".join(dump.thunk_names.lines)
    return {int(info["id"]): info["name"] for info in _THUNK_INFO.finditer(text)}


@query
def _thunks_per_kernel(dump: DumpSet) -> Counter[str]:
    """Return the number of thunks of each kernel."""
    return Counter(
        record.kernel
        for file in dump.files
        if file.kind is FileKind.THUNKS
        for record in file.records
        if isinstance(record, ThunkRow) and record.kernel is not None
    )


@query
def _instructions_by_kernel_name(dump: DumpSet) -> dict[str, list[str]]:
    """Return instructions by the name of their kernel, in which dots become underscores.

    Instructions inside a fusion have no kernel.
    """
    names: dict[str, list[str]] = {}
    for file in dump.files:
        fused = _fused_computations(file)
        for record in file.module.instructions.firsts():
            head = file.records.head_of(record)
            if not isinstance(head, ComputationLine) or head.name not in fused:
                names.setdefault(re.sub(r"[.\-]", "_", record.name), []).append(record.name)
    return names


def _fused_computations(file: DumpFile) -> set[str]:
    """Return the names of computations that fusions call."""
    texts = (
        parse_instruction(record.text)
        for record in file.module.instructions.records()
        if record.opcode == "fusion"
    )
    return {span.text for text in texts if text is not None for span in text.called}
