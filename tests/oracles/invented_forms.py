"""Forms that no compiler prints yet, as changes of the lines of real dumps."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from faults.dump import Lines

Change = Callable[[Path, Lines], Lines]

MODULE = ".txt"
VALUES = "-buffer-assignment-values.txt"
ASSIGNMENT = "-buffer-assignment.txt"
RANGES = "-live-range.txt"
REPORT = "-memory-usage-report.txt"
_ENDS = (VALUES, ASSIGNMENT, RANGES, REPORT, MODULE)


def _end(path: Path) -> str:
    return next(end for end in _ENDS if path.name.endswith(end))


def _rewrite(pattern: str, new: str, *ends: str) -> Change:
    """Return a change of each line of some files that has a pattern, at its first occurrence."""
    expression = re.compile(pattern)

    def change(path: Path, lines: Lines) -> Lines:
        if _end(path) not in (ends or (MODULE,)):
            return lines
        return tuple(expression.sub(new, line, count=1) for line in lines)

    return change


def _insert(
    after: str, new: Sequence[str], end: str = MODULE, *, everywhere: bool = False
) -> Change:
    """Return a change that inserts lines after the first line, or each line, with a pattern."""
    expression = re.compile(after)

    def change(path: Path, lines: Lines) -> Lines:
        if _end(path) != end:
            return lines
        found: list[str] = []
        is_done = False
        for line in lines:
            found.append(line)
            if not is_done and expression.search(line):
                found += new
                is_done = not everywhere
        return tuple(found)

    return change


_OPERAND = r"(\(|, )%([A-Za-z_][\w.\-]*)(?=[,)])"
_SHAPE = r"= ([a-z]+[0-9]*\[[0-9,]*\]\{[^}]*\})"
_DIMENSIONS = r"= ([a-z]+[0-9]*\[)([0-9]+)"
_TEXTS = (MODULE, VALUES)
_SHAPED = (MODULE, VALUES, ASSIGNMENT)
_RANGE = r"^    (.*):([0-9]+)-([0-9]+)$"


def _opcode(old: str, new: str) -> Change:
    return _rewrite(rf" {old}\(", f" {new}(", *_TEXTS)


FORMS: Mapping[str, Mapping[str, Change]] = {
    "suffix of an operand": {
        "at": _rewrite(_OPERAND, r"\1%\2@0", *_TEXTS),
        "exclamation": _rewrite(_OPERAND, r"\1%\2!"),
        "brackets": _rewrite(_OPERAND, r"\1%\2[0]", *_TEXTS),
        "colon": _rewrite(_OPERAND, r"\1%\2:0", *_TEXTS),
        "word": _rewrite(_OPERAND, r"\1%\2#first", *_TEXTS),
        "other sign": _rewrite(_OPERAND, r"\1&\2", *_TEXTS),
        "annotation": _rewrite(_OPERAND, r"\1%\2<dead>", *_TEXTS),
    },
    "annotation of a shape": {
        "at": _rewrite(_SHAPE, r"= \1@vmem", *_TEXTS),
        "sparse": _rewrite(r"= ([a-z]+[0-9]*\[[0-9,]*\])", r"= \1<sparse>", *_TEXTS),
        "property": _rewrite(r"\{([0-9,]+)(?=[:}])", r"{\1:Q(3)", *_SHAPED),
        "named dimension": _rewrite(_DIMENSIONS, r"= \1b=\2", *_SHAPED),
        "dimension of two parts": _rewrite(_DIMENSIONS, r"= \1?\2", *_TEXTS),
        "approximate dimension": _rewrite(_DIMENSIONS, r"= \1~\2"),
    },
    "attribute": {
        "angle brackets": _rewrite(r"\), metadata=", "), fast<1>, metadata="),
        "colon": _rewrite(r"dimensions=\{", "dimensions:{", *_TEXTS),
        "flag": _rewrite(r"\), ", "), @hot, "),
        "name": _rewrite(r"\), ", "), schedule_hint={a=1}, "),
        "parentheses": _rewrite(r"calls=%([\w.\-]+)", r"calls(%\1)", *_TEXTS),
        "list": _rewrite(r"dimensions=\{([0-9,]*)\}", r"dimensions=[\1]", *_TEXTS),
        "calls": _rewrite("calls=%", "runs=%", *_TEXTS),
        "body": _rewrite("body=%", "loop_body=%", *_TEXTS),
        "to_apply": _rewrite("to_apply=%", "applies=%", *_TEXTS),
        "behind the operands": _rewrite(r"\)(, [a-z_]+=)", r")!\1"),
        "sharding": _rewrite(r"sharding=\{", "sharding={v3:"),
        "metadata": _rewrite(r"metadata=\{", "metadata=#1{"),
        "configuration": _rewrite(r"backend_config=\{", "backend_config=<v2>{"),
        "inlined callee": _rewrite(r"calls=%([\w.\-]+)", r"calls=inline(%\1)"),
        "metadata in a list": _rewrite(r"metadata=(\{[^}]*\})", r"metadata=[\1]", *_TEXTS),
        "frame": _rewrite("stack_frame_id=([0-9]+)", r"stack_frame_id=#\1", *_TEXTS),
        "path": _rewrite('op_name="([^"]*)"', r"op_name=(\1)", *_TEXTS),
        "scope": _rewrite(r"metadata=\{", "metadata={scope:x, ", *_TEXTS),
        "range of dimensions": _rewrite(r"dimensions=\{([0-9]+)", r"dimensions={\1:3", *_TEXTS),
        "labels": _rewrite(r"dim_labels=(\w+)_(\w+)->", r"dim_labels=[\1]x[\2]->", *_TEXTS),
        "behind metadata": _rewrite(r"(metadata=\{[^}]*\})", r"\1 !dbg !12"),
        "behind the last value": _rewrite(r"\}$", "};"),
        "kind": _rewrite("kind=kLoop", "kind=kMosaic"),
        "behind a value": _rewrite("index=([0-9]+)", r"index=\1 {cost=3}"),
        "stream": _rewrite(r"^(  %.*)$", r"\1 -> stream 3"),
    },
    "section of the header": {
        "attribute": _rewrite("^HloModule ([^,]+),", r"HloModule \1, pipeline_stage={1},"),
        "flag": _rewrite("^HloModule ([^,]+),", r"HloModule \1, experimental,"),
        "behind the name": _rewrite("^HloModule ([^,]+),", r"HloModule \1 #12,"),
        "version": _rewrite("^HloModule ([^,]+),", r"HloModule v2 \1,"),
        "arrow of the layout": _rewrite(r"(layout=\{.*?\))->", r"\1=>"),
        "name in the layout": _rewrite(r"layout=\{\(", "layout={(x: "),
        "core of the layout": _rewrite(r"layout=\{", "layout={tc0: "),
        "table": _insert("^HloModule", ("", "FileRanges", "1 {a=1 b=2}", "2 {a=3 b=4}", "")),
        "line": _insert("^HloModule", ("Producer: xla 9.9",)),
        "block": _insert("^HloModule", ("", "Meshes {", '  "x" = [2,2]', "}")),
        "block of lists": _insert("^HloModule", ("config: {", '  "list": [', "    1", "  ]", "}")),
        "block with signs": _insert("^HloModule", ("{-#", "  resources: {", "  }", "#-}")),
        "last table": _insert("^StackFrames", ("ThreadNames", '1 "main"')),
        "frames": _rewrite(r"\{file_location_id=", "{thread=1 file_location_id="),
    },
    "column of a memory file": {
        "flag of an allocation": _rewrite(": size ([0-9]+)", r": size \1, pinned", ASSIGNMENT),
        "capital letter": _rewrite("^allocation ", "Allocation ", ASSIGNMENT),
        "space of an allocation": _rewrite("^(allocation [0-9]+)", r"\1 (hbm)", ASSIGNMENT),
        "short unit of a size": _rewrite(": size ([0-9]+)", r": size \1B", ASSIGNMENT),
        "unit of a size": _rewrite(": size ([0-9]+)", r": size \1 bytes", ASSIGNMENT),
        "alignment of a value": _rewrite(r",offset=([0-9]+)", r",offset=\1,align=8", ASSIGNMENT),
        "number of a value": _rewrite(" value: <", " value: [3] <", ASSIGNMENT),
        "end of a value": _rewrite("(value: .*)$", r"\1 refs=2", ASSIGNMENT),
        "core of a step": _rewrite("^    ([0-9]+):(.*)$", r"    \1:\2 @tc0", RANGES),
        "core before a step": _rewrite("^    ([0-9]+):(.*)$", r"    \1 [tc0]:\2", RANGES),
        "steps of a range": _rewrite(_RANGE, r"    \1:\2-\3 (3)", RANGES),
        "brackets of a range": _rewrite(_RANGE, r"    \1:[\2,\3]", RANGES),
        "periods of a range": _rewrite(_RANGE, r"    \1:\2..\3", RANGES),
        "space of a peak": _rewrite(r" bytes \(cumul", " bytes @hbm (cumul", RANGES),
        "steps of a peak": _rewrite(": ([0-9]+) bytes", r": \1 bytes, live 3 steps", RANGES),
        "maximum": _rewrite(r"HloLiveRange \(max", "HloLiveRange (spaces 2, max", RANGES),
        "kind of a use": _rewrite(", operand ([0-9]+)", r", operand \1 (must-alias)", VALUES),
        "word of a use": _rewrite(", operand ([0-9]+)", r", arg \1", VALUES),
        "space of a position": _rewrite(r"^  ([\w.\-]+)( \{[0-9,]*\})?$", r"  \1\2 @1", VALUES),
        "second number": _rewrite("^<([0-9]+) ", r"<\1:2 ", VALUES),
        "behind a value": _rewrite("^(<.*>)$", r"\1 (hbm)", VALUES),
        "kind of a value": _rewrite("^<([0-9]+ .*) @", r"<\1 (psi) @", VALUES),
        "flag of a value": _rewrite("^<(.*)>$", r"<\1 async>", VALUES),
        "number of an instruction": _rewrite(" instruction:", " instruction [3]:", VALUES),
        "no instruction": _rewrite(
            "^ from instruction: .*$", " from instruction: (deleted)", VALUES
        ),
        "report": _rewrite("; used_by_n_values;", "; align; used_by_n_values;", REPORT),
        "row of a report": _rewrite(r"^(\t|  )( *[0-9.]+\S*\( *\S+%\); +\S+;)", r"\1\2 8;", REPORT),
        "space of a report": _rewrite(r"\(color=", "(id=1, color=", REPORT),
    },
    "line": {
        "pool": _insert("^allocation 0", (" pool: 3 (shared)",), ASSIGNMENT),
        "pools": _insert("^BufferAssignment:", ("Pools: 3, largest 5",), ASSIGNMENT),
        "slots": _insert("InstructionSequence:", ("    async slots: 3",), RANGES),
        "cores": _insert("^HloLiveRange", ("  CoreSequence:", "    0:tc0"), RANGES),
        "sum": _insert("^Total bytes", ("Total wasted: 3",), VALUES),
        "unused": _insert("^Used values:", ("Unused values: 3",), VALUES),
        "free": _insert("^Total bytes", ("Largest free block: 3 (3B)",), REPORT),
        "label of entries": _insert("^ positions:", (" aliases:",), VALUES, everywhere=True),
        "notes of entries": _insert(
            "^ positions:", ("    note: a", "    note: b"), VALUES, everywhere=True
        ),
        "note of uses": _insert(", operand", ("    note: donated",), VALUES, everywhere=True),
        "dialect": _insert("^  %", ("  @barrier",)),
        "call": _insert("^  %", ("  barrier(%a)",)),
        "title": _insert("InstructionSequence:", ("    ---- core 0 ----",), RANGES),
        "barrier": _insert("^  %", ("  barrier",)),
        "block": _insert("^  %", ("  schedule: [", "    (0, 1),", "    (", "    )", "  ]")),
        "region": _insert("^  %", ("  #region 3",)),
        "mark of a root": _rewrite("^  ROOT ", "  RESULT "),
        "sign of a definition": _rewrite(r"^  %([\w.\-]+) =", r"  %\1 :: "),
        "number of a definition": _rewrite(r"^  %([\w.\-]+) =", r"  %\1 [3] ="),
        "computation": _rewrite(r"^%([\w.\-]+) \(", r"%\1 @inline ("),
        "word of a computation": _rewrite(r"^%([\w.\-]+) \(", r"FUSED %\1 ("),
        "attributes of a computation": _rewrite(r"^(%.*) \{$", r"\1 attributes {x=1} {"),
        "parameter of a computation": _rewrite(r"^(%[\w.\-]+ \()", r"\1ctx, "),
        "semicolon": _rewrite(r"^\}$", "};"),
        "end of a computation": _rewrite(r"^\}$", "}, priority=3"),
        "entry": _rewrite("^ENTRY ", "MAIN "),
    },
    "name of a section": {
        "schedule": _rewrite("InstructionSequence:", "Schedule:", RANGES),
        "ranges": _rewrite("BufferLiveRange:", "ValueLiveRange:", RANGES),
        "peak": _rewrite("Live ranges at", "Live ranges on device 0 at", RANGES),
        "uses": _rewrite("^ uses:", " users:", VALUES),
        "positions": _rewrite("^ positions:", " locations:", VALUES),
        "instruction": _rewrite("^ from instruction:", " defined by:", VALUES),
    },
    "opcode": {
        "fusion": _opcode("fusion", "fused-region"),
        "capital letter": _opcode("add", "Add"),
        "tuple": _opcode("tuple", "pack"),
        "get-tuple-element": _opcode("get-tuple-element", "unpack"),
        "dot": _opcode("(?:dot|convolution)", "contract"),
        "while": _opcode("while", "loop"),
        "bitcast": _opcode("bitcast", "reinterpret"),
        "copy": _opcode("copy", "copy_v2"),
        "named parameter": _rewrite(r"parameter\(([0-9]+)\)", r"parameter(arg\1)", *_TEXTS),
        "parameter": _opcode("parameter", "argument"),
        "dynamic-update-slice": _opcode("dynamic-update-slice", "write-slice"),
        "angle brackets": _opcode("add", "add<fast>"),
        "dialect": _rewrite(r" (add|multiply)\(", r" math.\1(", *_TEXTS),
    },
    "element type": {
        "of some": _rewrite(r"\bf32\[", "f32x[", *_SHAPED),
        "of all": lambda _, lines: tuple(re.sub(r"\bf32\[", "f32x[", line) for line in lines),
        "with a period": _rewrite(r"= f32\[", "= f.32["),
        "in angle brackets": _rewrite(r"= (f32)\[", "= complex<f32>["),
    },
    "memory space": {
        "word in a layout": _rewrite(r"S\([0-9]+\)", "S(vmem)", *_SHAPED),
        "word of a value": _rewrite("@[0-9]+>", "@hbm>", ASSIGNMENT, VALUES),
        "word of an allocation": _rewrite(", color [0-9]+", ", color vmem", ASSIGNMENT),
        "mark behind a layout": _rewrite(r"\}( [a-z\-]+\()", r":M<1>}\1", *_TEXTS),
    },
}
