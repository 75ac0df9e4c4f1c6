"""A module text for each opcode, each attribute, and each header field that XLA's parser reads.

The module needs no other package than jaxlib, because it also runs beside older and newer ones.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PRINT_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "without percent signs": {"print_percent": False},
    "operands with shapes": {"print_operand_shape": True},
    "the same without signs": {"print_operand_shape": True, "print_percent": False},
    "no layouts": {"include_layout_in_shapes": False, "print_operand_shape": True},
    "no signatures": {"print_program_shape": False, "print_percent": False},
    "compact operands": {"compact_operands": True},
    "deeper indents": {"indent_amount": 3},
}


def print_options(hlo: Any) -> dict[str, Any]:
    """Return options of the printer in ``jaxlib._hlo``: for dumps, for people, and for tools."""
    options = {name: hlo.HloPrintOptions() for name in PRINT_OPTIONS}
    for name, changes in PRINT_OPTIONS.items():
        for option, value in changes.items():
            setattr(options[name], option, value)
    options["default"] = hlo.HloPrintOptions()
    options["short"] = hlo.HloPrintOptions.short_parsable()
    options["canonical"] = hlo.HloPrintOptions.canonical()
    return options


_COMPUTATIONS = """\
sum {
  sa = f32[] parameter(0)
  sb = f32[] parameter(1)
  ROOT sc = f32[] add(sa, sb)
}

less {
  la = f32[] parameter(0)
  lb = f32[] parameter(1)
  ROOT lc = pred[] compare(la, lb), direction=LT
}

negated {
  na = f32[4,8] parameter(0)
  ROOT nb = f32[4,8] negate(na)
}

negated.1 {
  na.1 = f32[4,8] parameter(0)
  ROOT nb.1 = f32[4,8] negate(na.1)
}

again {
  aa = f32[4,8] parameter(0)
  ROOT ab = pred[] constant(false)
}

scanned {
  ca = f32[8] parameter(0)
  cb = f32[8] parameter(1)
  cc = f32[8] add(ca, cb)
  ROOT cd = (f32[8], f32[8]) tuple(cc, cc)
}

"""
_OPERANDS = """\
  x = f32[4,8] parameter(0)
  y = f32[8,4] parameter(1)
  v = f32[8] parameter(2)
  f = f32[] parameter(3)
  i = s32[] parameter(4)
  b = pred[] parameter(5)
  n = s32[4,8] parameter(6)
  m = pred[4,8] parameter(7)
  z = c64[4,8] parameter(8)
  q = f32[2,4,8] parameter(9)
  g = f32[1,5,5,4] parameter(10)
  h = f32[3,3,4,8] parameter(11)
  t = (f32[4,8], s32[]) parameter(12)
  k = token[] parameter(13)
  u = u64[2] parameter(14)
  s = f32[4,4] parameter(15)
  o = s32[2] parameter(16)
  w = s32[4,1] parameter(17)
  j = f32[3,3,2,8] parameter(18)
  l = f32[2,8,4] parameter(19)
  d = f32[2,8] parameter(20)
  r = u32[4,8] parameter(21)
  p = (f32[]) parameter(22)
"""

_LISTS = Path(__file__).with_suffix(".txt").read_text("utf-8").split("\n\n")


def _rows(number: int) -> list[str]:
    return _LISTS[number].strip().split("\n")[1:]


def module_texts() -> Iterator[str]:
    """Yield the texts."""
    for instruction in _rows(0):
        yield _module(f"  ROOT last = {instruction}\n")
    for pair in _rows(1):
        first, second = pair.split(" | ")
        yield _module(f"  first = {first}\n  ROOT last = {second}\n")
    for attribute in _rows(2):
        text = attribute.replace("\\n", "\n")
        yield _module(f"  ROOT last = f32[4,8] negate(x), {text}\n")
    for header in _rows(3):
        body = "ENTRY e {\n  x = f32[4,8] parameter(0)\n  ROOT y = f32[4,8] negate(x)\n}\n"
        yield f"HloModule m, {header}\n\n{body}"


def _module(statements: str) -> str:
    return f"HloModule m\n\n{_COMPUTATIONS}ENTRY e {{\n{_OPERANDS}{statements}}}\n"
