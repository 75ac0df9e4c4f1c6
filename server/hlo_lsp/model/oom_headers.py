"""The first sentences of out-of-memory messages: what ran out, and how much is missing."""

import re
from re import Match

from hlo_lsp.model.oom_message import (
    EntryList,
    OomEntry,
    OomKind,
    OomMessage,
    PrintedSize,
    printed_size,
)
from hlo_lsp.syntax.instruction_text import parse_instruction
from hlo_lsp.syntax.log_lines import LogLine
from hlo_lsp.syntax.oom_lines import find_rule

_KINDS = {
    "cores_exceeded": OomKind.HBM,
    "replicas_exceeded": OomKind.SPARSE_CORE,
    "sparse_core_exceeded": OomKind.SPARSE_CORE,
    "on_chip_exceeded": OomKind.GPU_KERNEL,
    "memory_exceeded": OomKind.ALLOCATION,
    "cpu_exhausted": OomKind.CPU,
    "device_exhausted": OomKind.GPU,
    "host_exhausted": OomKind.HOST,
    "host_driver_exhausted": OomKind.HOST,
    "host_status_exhausted": OomKind.HOST,
    "budget_exceeded": OomKind.GPU,
    "pool_exhausted": OomKind.GPU,
    "allocator_exhausted": OomKind.GPU,
    "free_exceeded": OomKind.ALLOCATION,
    "free_unknown": OomKind.ALLOCATION,
    "request_exceeded": OomKind.GPU,
    "driver_exhausted": OomKind.GPU,
    "region_exceeded": OomKind.ALLOCATION,
    "rematerialization_exceeded": OomKind.REMATERIALIZATION,
}
# Memory spaces of SparseCore programs (docs/errors/error_3000.md of XLA).
_SPARSE_CORE_MEMORIES = {
    "0": "smem",
    "201": "tile_spmem",
    "202": "spmem",
    "203": "hbm",
    "204": "sflag",
}
_WORD_BYTES = 4
_TENSOR_COLUMN_BYTES = 128 * 4  # a column of tensor memory has 128 lanes
_REPLICAS_CODE = "E3001"  # its status has the code of invalid arguments
_ATTEMPT_RULES = frozenset(
    {"driver_exhausted", "host_driver_exhausted", "host_status_exhausted", "pool_exhausted"}
)
_WITH_FREE_MEMORY = frozenset({"free_exceeded", "region_exceeded"})
_ESCAPED_QUOTE = re.compile(r"(?<!\\)\\+'")  # in the repr of a sentence
_NAME = re.compile(r"%?[A-Za-z_][\w.\-]*")
_BROKEN_NAME = re.compile(r"%?[A-Za-z_][\w.\-]* [\w.\-]+")  # by the end of a line
_ROUNDED_TO = 256  # bytes: the unit of the allocator for GPUs (bfc_allocator.cc)


def read_header(
    line: LogLine, text: str, header: tuple[str, Match[str]], code: str | None
) -> tuple[OomMessage, OomEntry | None]:
    """Return the message that a sentence begins, and the buffer that it describes, if any.

    Args:
        line: The first line of the sentence.
        text: The text of the sentence, which may go on in the next lines.
        header: The rule of the sentence, and its match.
        code: The code of the error in the line before the sentence.
    """
    rule, match = header
    fields = match.groupdict()
    program = find_rule("program_label", text) or find_rule("executable_label", text)
    memory = memory_space(fields.get("MEMORY"))
    stack = find_rule("stack_label", line.text)
    is_stack = rule == "stack_exceeded" or (rule == "space_exhausted" and stack is not None)
    kind = _KINDS.get(rule) or kind_of_memory(memory, is_scoped=is_stack)
    if rule == "allocator_exhausted" and "host" in fields["DEVICE"]:
        kind = OomKind.HOST
    if kind is OomKind.ALLOCATION and (program is not None or fields.get("PLACE")):
        kind = OomKind.PROGRAM_LOAD
    needed = _exact_size(printed_size(fields.get("NEEDED")), fields.get("EXACT"))
    limit = printed_size(
        fields.get("RESERVABLE") or fields.get("CONTIGUOUS") or fields.get("LIMIT")
    )
    allocation = capacity = None
    if rule == "sparse_core_exceeded":
        memory = _SPARSE_CORE_MEMORIES.get(fields["SPACE"])
        allocation, needed, limit = (
            size and size.in_units("words", _WORD_BYTES)
            for size in (printed_size(fields["PART"]), needed, limit)
        )
    elif rule == "replicas_exceeded":
        memory = "tile_spmem"
        needed = PrintedSize.sum_of(fields["FIXED"], fields["ROWS"])
        code = _REPLICAS_CODE
    elif rule == "on_chip_exceeded":
        memory = fields["ON_CHIP"].lower()
        if memory == "tensor":
            needed, limit = (
                size and size.in_units("columns", _TENSOR_COLUMN_BYTES) for size in (needed, limit)
            )
    elif rule == "budget_exceeded":
        in_use = printed_size(fields["IN_USE"])
        limit, capacity = limit and in_use and limit.without(in_use), limit
    elif rule == "memory_exceeded":
        found = find_rule("allocation_detail", text)
        memory = None if found is None else memory_space(found["MEMORY"])
    cores = fields.get("SPARSE_CORE")
    if cores is not None:
        needed = PrintedSize.sum_of(fields["NEEDED"], cores)
    message = OomMessage(
        kind,
        memory,
        fields.get("MODULE") or (None if program is None else program["MODULE"]),
        needed,
        limit,
        printed_size(fields.get("EXCESS")),
        fields.get("WHAT"),
        rule in {"free_exceeded", "free_unknown", "region_exceeded", "budget_exceeded"},
        fields.get("CONTIGUOUS") is not None,
        line.line,
        free=printed_size(fields.get("LIMIT")) if rule in _WITH_FREE_MEMORY else None,
        capacity=capacity,
        is_attempt=rule in _ATTEMPT_RULES or find_rule("attempt_label", text) is not None,
        sparse_core=printed_size(cores),
        allocation=allocation,
        in_use=printed_size(fields.get("IN_USE")),
        code=printed_code(text) or code,
    )
    # The label of a sentence without sizes ends with its line.
    shown = line.text if rule == "space_exhausted" else text
    return message, _entry_of_header(rule, match, shown, message)


def printed_code(text: str) -> str | None:
    """Return the code of the error that a text names."""
    code, page = find_rule("code_label", text), find_rule("page_label", text)
    if code is not None:
        return code["CODE"]
    return None if page is None else f"E{page['PAGE']}"


def memory_space(printed: str | None) -> str | None:
    """Return the name of a memory space in small letters."""
    return None if printed is None else printed.lower()


def kind_of_memory(memory: str | None, *, is_scoped: bool = False) -> OomKind:
    """Return the kind of a message that names a memory space of a TPU."""
    if memory == "vmem":
        return OomKind.SCOPED_VMEM if is_scoped else OomKind.VMEM
    return OomKind.HBM if memory in {None, "hbm"} else OomKind.MEMORY_SPACE


def _exact_size(printed: PrintedSize | None, exact: str | None) -> PrintedSize | None:
    """Return a printed size with the number of bytes that the message also prints."""
    size = printed_size(exact)
    if printed is None or size is None or not printed.matches_within(size.bytes, _ROUNDED_TO):
        return printed
    return PrintedSize(printed.text, size.bytes, 0)


def _entry_of_header(
    rule: str, match: Match[str], text: str, message: OomMessage
) -> OomEntry | None:
    """Return the buffer that a first sentence describes, if it describes one."""
    shape = label = allocation_type = None
    operator: dict[str, str] = {}
    if rule == "stack_exceeded":
        found = find_rule("stack_label", text)
        if found is None:
            return None
        allocation_type = "scoped"
        label = text[found.end() : match.start()].strip().removesuffix(".")
        instruction = parse_instruction(label)
        name = _NAME.match(label)
        if instruction is not None:
            shape, operator = instruction.shape.text, dict(instruction.metadata)
        elif _BROKEN_NAME.fullmatch(label) is not None:
            label = label.replace(" ", "")
        elif name is not None:
            label = name[0]  # the prefix of the next line may follow
    elif rule == "space_exhausted" and (found := find_rule("stack_label", text)) is not None:
        allocation_type, label = "scoped", text[found.end() :]
        instruction = parse_instruction(label)
        if instruction is not None:
            shape, operator = instruction.shape.text, dict(instruction.metadata)
    elif rule == "memory_exceeded":
        found = find_rule("allocation_detail", _ESCAPED_QUOTE.sub("'", text))
        if found is None:
            return None
        shape, label = found["SHAPE"], found["TAG"]
        is_scoped = found["SCOPED"] is not None or find_rule("scoped_label", label) is not None
        allocation_type = "scoped" if is_scoped else None
    elif rule == "on_chip_exceeded" and match["CONTEXT"] is not None:
        label = match["CONTEXT"]
    else:
        return None
    return OomEntry(
        1, EntryList.ALLOCATIONS, message.needed, shape, None, operator, label, allocation_type,
        False, (), message.first, message.first,
    )  # fmt: skip
