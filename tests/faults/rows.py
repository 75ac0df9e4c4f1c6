"""Patterns of lines in dumps, independent of the grammars under test."""

import re

from hlo_lsp.syntax.file_kinds import FileKind

_NAME = r"(?P<name>[A-Za-z_][\w.-]*)"
_INDEX = r"(?P<index>\{[\d,]*\})"
_VALUE = rf"<(?P<id>\d+) {_NAME}{_INDEX}?(?P<phi> \(phi\))?(?: @(?P<color>\d+))?>"
_SPACED = r"\d+(?: \d{3})*"

PATTERNS: dict[str, "re.Pattern[str]"] = {
    name: re.compile(expression + "$")
    for name, expression in {
        "allocation": r"allocation (?P<number>\d+): size (?P<size>\d+)"
        r"(?P<colored>, color (?P<color>\d+))?(?:, page \d+)?"
        r"(?P<parameter>, parameter (?P<ordinal>\d+), shape \|(?P<shape>[^|]*)\| at ShapeIndex "
        r"(?P<index>\{[\d,]*\}))?"
        r"(?P<output>, output shape is \|(?P<returned>[^|]*)\|)?(?P<flags>[a-z, -]*):",
        "assigned": rf" value: {_VALUE} \(size=(?P<size>\d+),offset=(?P<offset>\d+)\): "
        r"(?P<shape>.+)",
        "total": r"Total bytes used: (?P<total>\d+) \((?P<human>[\d.]+[KMGTPEi]*B)\)",
        "entry": _VALUE,
        "position": rf"  {_NAME}(?: {_INDEX})?",
        "use": rf"  {_NAME}, operand (?P<operand>\d+)(?: {_INDEX})?",
        "none": r"  \(none\)",
        "instruction": r" from instruction: ?%?(?P<name>[\w.-]+) = (?P<shape>.+?) "
        r"(?P<opcode>[a-z][\w-]*)\((?P<rest>.*)",
        "max": r"HloLiveRange \(max (?P<max>\d+)\):",
        "step": r"    (?P<step>\d+):(?P<name>[\w.-]+)",
        "range": rf"    {_NAME}{_INDEX}:(?P<start>\d+)-(?P<end>\d+)",
        "moment": r"  Live ranges at (?P<moment>-?\d+) \(peak\):",
        "live": rf"    {_NAME}{_INDEX}?: (?P<bytes>\d+) bytes"
        r"(?: \(cumulative: (?P<cumulative>\d+) bytes\))?",
        "stacks": rf"  Stack trace breakdown for peak usage: (?P<total>{_SPACED}) bytes",
        "stack": r"(?P<stem>    (?:  (?:│   |    )*[├└]── )?)(?P<title>.*) "
        rf"\((?P<percent>[\d.]+)%, total: (?P<total>{_SPACED}) bytes, "
        rf"current: (?P<current>{_SPACED}) bytes, remaining: (?P<remaining>{_SPACED}) bytes\)",
        "space": r"Memory Space: (?P<name>\w+) \(color=(?P<color>\d+)\)",
        "space_total": r"Total bytes: (?P<total>\d+) \((?P<human>[\d.]+[KMGTPEi]*B)\)",
        "table_row": r"\s+(?P<cumulative>[\d.]+\w+)\(\s*(?P<percent>\d+)%\);\s+"
        r"(?P<size>[\d.]+\w+);\s+(?P<offset>\d+);\s+(?P<values>\d+); (?P<shapes>.+)",
        "heading": r"(?:BufferAssignment|Used values|HloLiveRange \(max \d+\)|"
        r"  InstructionSequence|  BufferLiveRange|  Live ranges at \d+ \(peak\)):",
        "part": r" (?:positions|uses):",
        "statement": r"  (?P<root>ROOT )?%?(?P<name>[\w.-]+) = (?P<shape>\(.*?\)|\S+) "
        r"(?P<opcode>[a-z][\w-]*)\((?P<rest>.*)",
        "computation": r"(?P<entry>ENTRY )?%?(?P<name>[\w.-]+) \((?P<parameters>.*)\) -> "
        r"(?P<result>.+) \{",
        "frame": r"(?P<number>\d+) \{file_location_id=(?P<location>\d+) "
        r"parent_frame_id=(?P<parent>\d+)\}",
        "location": r"(?P<number>\d+) \{file_name_id=(?P<file>\d+) "
        r"function_name_id=(?P<function>\d+) line=.*\}",
    }.items()
}

_MODULE_PATTERNS = ("statement", "computation", "frame", "location")
_REPORT_PATTERNS = ("space", "space_total", "table_row")
_OTHER_KINDS = frozenset({FileKind.ASSIGNMENT, FileKind.VALUES, FileKind.LIVE_RANGE})

FILE_KINDS = {
    name: frozenset({FileKind.MODULE})
    if name in _MODULE_PATTERNS
    else frozenset({FileKind.REPORT})
    if name in _REPORT_PATTERNS
    else _OTHER_KINDS
    for name in PATTERNS
}
"""Kinds of files in which lines of a pattern occur."""
