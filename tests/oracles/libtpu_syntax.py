"""What libtpu prints and XLA's open parser refuses, and the same module without it."""

import re
from dataclasses import dataclass

_ORDER = re.compile(r"( compare\(.*?\), direction=[A-Z]{2}), order=TOTAL\b")
_STABLE = re.compile(r"( topk\(.*?\)), (.*?), is_stable=(?:true|false)\b")
_HEADER_CONFIG = re.compile(r", backend_config=(?=\{)")
_BRACE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]')
_LATE_UPDATE = re.compile(r"%([\w.\-]+) = .*? async-update\(%[\w.\-]+, ")
_LATE = re.compile(r"(%([\w.\-]+) = .*?) (async-update|async-done)\(([^()]*)\)")


@dataclass(frozen=True, slots=True)
class OpenText:
    """A module text without libtpu's own syntax.

    ``reasons`` name what was found. ``stand_ins`` are the real opcodes of instructions that had to
    become custom calls.
    """

    text: str
    reasons: frozenset[str]
    stand_ins: dict[str, str]


def opened(text: str) -> OpenText:
    """The module in syntax that the open parser takes."""
    reasons: set[str] = set()
    text, orders = _ORDER.subn(r"\1", text)
    text, stables = _STABLE.subn(r"\1, \2", text)
    if orders:
        reasons.add("order=TOTAL of a comparison")
    if stables:
        reasons.add("is_stable of topk")
    header, newline, body = text.partition("\n")
    config = _HEADER_CONFIG.search(header)
    if config is not None:
        reasons.add("backend_config of the module")
        header = header[: config.start()] + header[_closing(header, config.end()) :]
    body, stand_ins = _without_late_operands(body)
    if stand_ins:
        reasons.add("async-update with operands")
    return OpenText(header + newline + body, frozenset(reasons), stand_ins)


def _closing(text: str, at: int) -> int:
    """The end of the balanced braces that begin at ``at``."""
    depth = 0
    for match in _BRACE.finditer(text, at):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    raise ValueError("the braces do not close")


def _without_late_operands(body: str) -> tuple[str, dict[str, str]]:
    """Custom calls in the place of updates with operands, and of what is done with those.

    The open parser wants one operand, and that it is an asynchronous instruction.
    """
    late = set(_LATE_UPDATE.findall(body))
    stand_ins: dict[str, str] = {}

    def replaced(match: re.Match[str]) -> str:
        front, name, opcode, operands = match.groups()
        if name not in late and operands.lstrip("%") not in late:
            return match[0]
        stand_ins[name] = opcode
        return f'{front} custom-call({operands}), custom_call_target="{opcode}"'

    lines = [_LATE.sub(replaced, line, count=1) for line in body.split("\n")]
    return "\n".join(lines), stand_ins
