"""Values of attributes as XLA's printer writes them.

Learnt from what it prints, and from hlo_instructions.cc, hlo_sharding.cc, hlo_op_metadata.cc,
window_util.cc and the configurations of aliasing. A value whose rule is not known stays as it is,
and so does one that XLA keeps as a text: ``backend_config={...}``, the attributes of frontends.
"""

import re
from collections.abc import Callable
from functools import cache, lru_cache, partial

from hlo_lsp.analysis.formatting.parts import pieces, printed_shape
from hlo_lsp.syntax.nesting import closing
from hlo_lsp.vocabulary.entries import AttributeKind
from hlo_lsp.vocabulary.vocabulary import vocabulary

_STRING = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
_TOKEN = re.compile(rf"{_STRING}|'[^'\n]*'|/\*index=\d+\*/|->|[\w.\-+%?]+|\S")
_NUMBER = re.compile(r"-?\d")
_WORD = re.compile(r"[\w.\-+%?]")
_ENDS = frozenset('])}"')
_NO_BLANKS = re.compile(r"\S+")
_NAMES = re.compile(r"\{[\w.\-%]+(?:, [\w.\-%]+)*\}")
_METADATA = re.compile(rf"\{{(?:[a-z_]+=(?:{_STRING}|\w+|\{{[\d,]*\}})(?: (?=[a-z])|(?=\}})))*\}}")
_FRONTEND = re.compile(rf"([\w.\-]+=)\s*({_STRING}|\{{.*\}})", re.DOTALL)
_GROUPS = re.compile(
    r"\[[\d,]+\]<=\[[\d,]+\](?:T\([\d,]+\))?"  # replica groups that are counted
    r"|(?:mesh\[[^\[\]]*\]|\([^\s()]*(?:\([\d,]+\))?\))(?: \{[^{}]*\})?"  # axes of a mesh
)
_ARRAY = re.compile(r"[a-z]\w*\[[^\]]*\](?:\{[^{}]*\})?")


def printed_value(name: str, value: str) -> str:
    """The value of an attribute, which has no blanks at its ends."""
    write = _writers().get(name)
    return value if write is None else write(value)


@cache
def _writers() -> dict[str, Callable[[str], str]]:
    """How values are written that can have blanks inside, by the names of their attributes."""
    words = vocabulary()
    packed, listed = partial(_group, is_wide=False), partial(_group, is_wide=True)
    of_kind: dict[AttributeKind, Callable[[str], str]] = {
        AttributeKind.INTEGERS: packed,
        AttributeKind.ENUMS: packed,
        AttributeKind.COMPUTATIONS: listed,
        AttributeKind.INSTRUCTIONS: listed,
    }
    known = [*words.attributes.values(), *words.header.values()]
    return {
        **{each.name: of_kind[each.kind] for each in known if each.kind in of_kind},
        "allow_spmd_sharding_propagation_to_output": packed,
        "allow_spmd_sharding_propagation_to_parameters": packed,
        "parameter_replication": packed,
        "result_accuracy": packed,
        "source_target_pairs": packed,
        "statistics": packed,
        "window": packed,
        "domain": listed,
        "origin": listed,
        "output_to_operand_aliasing": listed,
        "sharding": listed,
        "slice": listed,
        "buffer_donor": _padded,
        "input_output_alias": _padded,
        "replica_groups": _groups,
        "device_ids": _groups,  # the second half of replica groups by axes, behind a comma
        "entry_computation_layout": _shapes,
        "operand_layout_constraints": _shapes,
        "outfeed_shape": _shape,
        "metadata": _metadata,
        "frontend_attributes": _frontend,
    }


def _group(value: str, is_wide: bool) -> str:
    """What is all in one pair of brackets; where it is wide, blanks stand behind its commas."""
    as_printed = _NAMES if is_wide else _NO_BLANKS  # thousands of devices may be listed
    if as_printed.fullmatch(value) or not _is_one(value):
        return value
    return _spaced(value, is_wide)


def _is_one(value: str) -> bool:
    """Whether the first bracket closes at the end: nothing else is behind the value by mistake."""
    return value[0] in "{([" and closing(value, 0) == len(value) - 1


def _padded(value: str) -> str:
    inside = _spaced(value, is_wide=True)[1:-1] if _is_one(value) else ""
    return f"{{ {inside} }}" if inside else value


def _groups(value: str) -> str:
    if value.startswith("{"):
        return _group(value, is_wide=False)
    printed = _spaced(value, is_wide=False)
    return printed if _GROUPS.fullmatch(printed) else value


def _shapes(value: str) -> str:
    printed = printed_shape(value[1:-1]) if _is_one(value) else None
    return value if printed is None else f"{value[0]}{printed}{value[-1]}"


def _shape(value: str) -> str:
    printed = printed_shape(value)
    is_shape = printed is not None and (_ARRAY.fullmatch(printed) or _is_one(printed))
    return printed if printed is not None and is_shape else value


def _metadata(value: str) -> str:
    if _METADATA.fullmatch(value):
        return value
    printed = _spaced(value, is_wide=False)
    return printed if _METADATA.fullmatch(printed) else value


def _frontend(value: str) -> str:
    """The texts in braces are strings to XLA, with all their blanks."""
    if not _is_one(value):
        return value
    found = [_FRONTEND.fullmatch(piece) for piece in pieces(value, 1, len(value) - 1)]
    parts = [match[1] + match[2] for match in found if match is not None]
    return value if len(parts) < len(found) else f"{{{','.join(parts)}}}"


@lru_cache(maxsize=1 << 12)
def _spaced(value: str, is_wide: bool) -> str:
    """The tokens of a value with the blanks that XLA prints between them."""
    found: list[str] = []
    inside: list[bool] = []  # of each open bracket, whether blanks stand behind its commas
    before = left = ""
    for right in _TOKEN.findall(value):
        if _is_parted(before, left, right, bool(inside) and inside[-1]):
            found.append(" ")
        found.append(right)
        if right in {"{", "[", "("}:
            inside.append(is_wide and left != "mesh")
        elif right in {"}", "]", ")"} and inside:
            inside.pop()
        before, left = left, right
    return "".join(found)


def _is_parted(before: str, left: str, right: str, is_wide: bool) -> bool:
    """Whether a blank stands between two tokens; ``before`` is the one in front of them."""
    if left == ",":
        return is_wide and not (_NUMBER.match(before) and _NUMBER.match(right))
    if left == ":":  # the place in a result, then that of a parameter
        return before == "}" and right == "("
    if right == "{":
        return left[-1:] in _ENDS - {"}"}
    if _WORD.match(right) is None or right == "T":  # which is a transposition: [4]T(1,0)
        return False
    return _WORD.match(left[-1:]) is not None or (left[-1:] in _ENDS and not _NUMBER.match(right))
