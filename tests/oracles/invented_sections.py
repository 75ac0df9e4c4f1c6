"""Sections that no compiler prints yet, and the places where one may print them."""

from collections.abc import Mapping, Sequence

from faults.dump import Lines

IN_MODULES: Mapping[str, Sequence[str]] = {
    "block": ["novel {", "  alpha", "  beta gamma", "}"],
    "assignments": ["novel {", "  a = 1", '  b = "two"', "}"],
    "fields": ["novel {", "  a: 1,", "  b: [1, 2]", "},"],
    "nested": ["novel {", "  inner {", "    a: 1", "  }", "  other {", "  }", "}"],
    "assigned": ["settings = {", '  "a": {', '    "b": 1', "  },", "  c = {", "  }", "};"],
    "one line": ["novel {a=1, b={2}}"],
    "calls on one line": ["novel { a = fast(1) }"],
    "list on one line": ["settings = [1, {2}, 3]"],
    "title of its own": ["novel", "{", "  inner", "  {", "    a", "  }", "}"],
    "assigned title": ["settings =", "{", "  a: 1", "}"],
    "quotes": ["novel {", r'  text: "a \" } b"', '  other: "{ ["', "}"],
    "quotes on one line": ['novel {text="a } b { c"}'],
    "json": ["{", '  "a": {', '    "b": [', "      1", "    ]", "  },", '  "c": "d"', "}"],
    "json list": ["[", "  {", '    "a": 1', "  },", "  {", '    "a": 2', "  }", "]"],
    "json on one line": ['{"a": {"b": [1, 2]}, "c": "d"}'],
    "end on content": ["settings = {a: 1,", "  b: 2}"],
    "without indentation": ["novel {", "a: 1", "b {", "c: 2", "}", "}"],
    "with comments": ["novel {", "", "  // {", "  a: 1 // }", "", "}"],
    "empty": ["%novel {", "}"],
}
IN_MEMORY: Mapping[str, Sequence[str]] = {
    "block": ["novel {", "  a: 1", "}"],
    "json": ["{", '  "a": [1, 2]', "}"],
    "rows": ["Pools (max 3):", "  pool 0: size 3", "  pool 1: size 4"],
    "nested rows": ["Pools:", "  Pool 0:", "    size: 3", "  Pool 1:", "    size: 4"],
    "ranges": ["SpillRange:", "  SpillSequence:", "    0:x", "  SpillLiveRange:", "    x{}:0-3"],
    "range block": ["RangeSection {", "    x{}:0-3", "    y{}:1-2", "}"],
    "peak": ["Spill peak:", "    x{}: 64 bytes (cumulative: 64 bytes)"],
    "values": ["Spills:", " value: <30 x @0> (size=4096,offset=0): f32[1024]{0}"],
    "entry": ["Spills:", " positions:", "  x", " uses:", "  y, operand 0"],
    "lines": ["Spilled bytes: 3", "Wasted bytes: 4"],
}
IN_LIVE_RANGES: Mapping[str, Sequence[str]] = {
    "ranges": ["  SpillRange:", "    x{}:0-3", "    y{}:1-2"],
    "range block": ["  RangeSection {", "    x{}:0-3", "  }"],
    "counted ranges": ["  SpillRange (max 3):", "    x{}:0-3"],
    "sequence": ["  SpillSequence:", "    0:x", "    1:y"],
    "unknown rows": ["  Spills:", "    x -> 3"],
}


def module_places(lines: Lines) -> dict[str, int]:
    """Return the lines of a module text before which a section may be."""
    header = next(at for at, line in enumerate(lines) if line.startswith("HloModule"))
    heads = [at for at, line in enumerate(lines) if line.endswith("{") and not line[0].isspace()]
    return {
        "before the header": header,
        "after the header": header + 1,
        "before the first computation": heads[0],
        "between computations": heads[len(heads) // 2],
        "after a computation": lines.index("}") + 1,
        "at the end": _end(lines),
    }


def memory_places(lines: Lines) -> dict[str, int]:
    """Return the lines of a memory file before which a section may be: blank ones and the ends."""
    places = {"at the start": 0, "at the end": _end(lines)}
    for at, line in enumerate(lines[:-1]):
        if not line:
            places.setdefault(f"before {lines[at + 1][:20]!r}", at)
    return places


def live_range_places(lines: Lines) -> dict[str, int]:
    """Return the lines before which a section of live ranges may be."""
    begin = next((at for at, line in enumerate(lines) if line.startswith("HloLiveRange")), None)
    if begin is None:
        return {}
    heads = (at for at in range(begin + 1, len(lines)) if lines[at][:2] == "  " != lines[at][1:3])
    places = {f"before {lines[at].strip()[:20]!r}": at for at in heads}
    return {**places, "at the end": _end(lines)}


def inserted(lines: Lines, at: int, section: Sequence[str], *, apart: bool) -> Lines:
    """Return the lines with a section before a line, with blank lines around if ``apart``."""
    around = [""] if apart else []
    return (*lines[:at], *around, *section, *around, *lines[at:])


def _end(lines: Lines) -> int:
    return len(lines) - (not lines[-1])
