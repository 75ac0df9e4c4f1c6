"""The removal of syntax that libtpu prints and XLA's open-source parser rejects."""

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
    """A module text without the syntax of libtpu.

    ``reasons`` name the removed syntax. ``replaced_opcodes`` are the real opcodes of instructions
    that were replaced by custom calls.
    """

    text: str
    reasons: frozenset[str]
    replaced_opcodes: dict[str, str]


def remove_libtpu_syntax(text: str) -> OpenText:
    """Return the module in syntax that the open-source parser accepts."""
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
        header = header[: config.start()] + header[_closing_offset(header, config.end()) :]
    body, replaced_opcodes = _without_late_operands(body)
    if replaced_opcodes:
        reasons.add("async-update with operands")
    return OpenText(header + newline + body, frozenset(reasons), replaced_opcodes)


def _closing_offset(text: str, at: int) -> int:
    """Return the end of the balanced braces that begin at ``at``."""
    depth = 0
    for match in _BRACE.finditer(text, at):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    raise ValueError("the braces do not close")


def _without_late_operands(body: str) -> tuple[str, dict[str, str]]:
    """Replace updates with operands, and their users, by custom calls.

    The open-source parser accepts only one operand, which must be an asynchronous instruction.
    """
    late = set(_LATE_UPDATE.findall(body))
    replaced_opcodes: dict[str, str] = {}

    def replaced(match: re.Match[str]) -> str:
        front, name, opcode, operands = match.groups()
        if name not in late and operands.lstrip("%") not in late:
            return match[0]
        replaced_opcodes[name] = opcode
        return f'{front} custom-call({operands}), custom_call_target="{opcode}"'

    lines = [_LATE.sub(replaced, line, count=1) for line in body.split("\n")]
    return "\n".join(lines), replaced_opcodes
