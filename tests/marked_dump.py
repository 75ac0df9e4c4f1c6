"""A small TPU dump, with marks on every place that a test starts from or ends on.

The compile exists in both generations: in one file, and split into its four files.
"""

from dataclasses import dataclass
from pathlib import Path

from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.cursor.targets import CursorTarget
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from marks import Mark, Marked, mark

ASSIGNMENT = mark(
    """
    BufferAssignment:
    allocation 0: size 512, thread-local:
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ allocation-0
     value: <0 add.9 @0> (size=512,offset=0): f32[]{:T(128)}
            ^^^^^^^^^^^^ add.9-value
    allocation 1: size 8192, parameter 0, shape |f32[16,64]| at ShapeIndex {}:
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ allocation-1
     value: <3 x.1 @0> (size=8192,offset=0): f32[16,64]{1,0:T(8,128)}
            ^^^^^^^^^^ x.1-value
    allocation 2: size 8192, output shape is |f32[16,64]|, maybe-live-out:
     value: <8 fusion.2 @0> (size=8192,offset=0): f32[16,64]{1,0:T(8,128)}
            ^^^^^^^^^^^^^^^ fusion.2-value
    allocation 3: size 32, preallocated-temp:
     value: <4 fusion{} @0> (size=32,offset=0): (f32[16,64]{1,0:T(8,128)S(1)}, f32[64]{0:T(128)S(1)})
    allocation 4: size 8704, color 1, preallocated-temp:
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ allocation-4
     value: <5 fusion{0} @1> (size=8192,offset=0): f32[16,64]{1,0:T(8,128)S(1)}
            ^^^^^^^^^^^^^^^^ fusion0-value
     value: <6 fusion{1} @1> (size=512,offset=8192): f32[64]{0:T(128)S(1)}
            ^^^^^^^^^^^^^^^^ fusion1-value
     value: <7 negate.7 @1> (size=8192,offset=0): f32[16,64]{1,0:T(8,128)S(1)}
            ^^^^^^^^^^^^^^^ negate.7-value
    """  # noqa: E501
)
VALUES = mark(
    """

    Total bytes used: 25632 (25.0KiB)

    Used values:
    <0 add.9 @0>
    ^^^^^^^^^^^^ add.9-entry
     positions:
      add.9
     uses:
      (none)
     from instruction: %add.9 = f32[]{:T(128)} add(%p, %q)
    <3 x.1 @0>
    ^^^^^^^^^^ x.1-entry
     positions:
      x.1
      ^^^ x.1-position
     uses:
      fusion, operand 0
      ^^^^^^ x.1-use
     from instruction: %x.1 = f32[16,64]{1,0:T(8,128)} parameter(0), metadata={op_name="x"}
    <4 fusion{} @0>
    ^^^^^^^^^^^^^^^ fusion-entry
     positions:
      fusion {}
     uses:
      get-tuple-element, operand 0 {}
      ^^^^^^^^^^^^^^^^^ fusion-use
      get-tuple-element.1, operand 0 {}
     from instruction: %fusion = (f32[16,64]{1,0:T(8,128)S(1)}, f32[64]{0:T(128)S(1)}) fusion(%x.1), kind=kLoop, calls=%fused, metadata={op_name="jit(f)/mul" source_file="/home/user/model.py" source_line=7}
                                                                                               ^^^ fusion-operand
    <5 fusion{0} @1>
    ^^^^^^^^^^^^^^^^ fusion0-entry
     positions:
      fusion {0}
      ^^^^^^^^^^ fusion0-position
      get-tuple-element
      ^^^^^^^^^^^^^^^^^ gte-position
     uses:
      negate.7, operand 0
      ^^^^^^^^ fusion0-use
     from instruction: %fusion = (f32[16,64]{1,0:T(8,128)S(1)}, f32[64]{0:T(128)S(1)}) fusion(%x.1), kind=kLoop, calls=%fused, metadata={op_name="jit(f)/mul" source_file="/home/user/model.py" source_line=7}
    <6 fusion{1} @1>
    ^^^^^^^^^^^^^^^^ fusion1-entry
     positions:
      fusion {1}
      get-tuple-element.1
     uses:
      fusion.2, operand 1
      ^^^^^^^^ fusion1-use
     from instruction: %fusion = (f32[16,64]{1,0:T(8,128)S(1)}, f32[64]{0:T(128)S(1)}) fusion(%x.1), kind=kLoop, calls=%fused, metadata={op_name="jit(f)/mul" source_file="/home/user/model.py" source_line=7}
    <7 negate.7 @1>
    ^^^^^^^^^^^^^^^ negate.7-entry
     positions:
      negate.7
     uses:
      fusion.2, operand 0
     from instruction: %negate.7 = f32[16,64]{1,0:T(8,128)S(1)} negate(%get-tuple-element), metadata={op_name="jit(f)/neg"}
                                                                        ^^^^^^^^^^^^^^^^^ gte-operand
    <8 fusion.2 @0>
    ^^^^^^^^^^^^^^^ fusion.2-entry
     positions:
      fusion.2
      ^^^^^^^^ fusion.2-position
     uses:
      (none)
     from instruction: %fusion.2 = f32[16,64]{1,0:T(8,128)} fusion(%negate.7, %get-tuple-element.1), kind=kLoop, calls=%fused.1
    """  # noqa: E501
)
LIVE = mark(
    """
    HloLiveRange (max 6):
      InstructionSequence:
        0:x.1
          ^^^ x.1-step
        1:fusion
          ^^^^^^ fusion-step
        2:get-tuple-element
          ^^^^^^^^^^^^^^^^^ gte-step
        3:get-tuple-element.1
        4:negate.7
          ^^^^^^^^ negate.7-step
        5:fusion.2
      BufferLiveRange:
        x.1{}:0-6
        ^^^^^ x.1-range
        fusion{}:1-3
        fusion{0}:1-4
        ^^^^^^^^^ fusion0-range
        fusion{1}:1-5
        negate.7{}:4-5
        ^^^^^^^^^^ negate.7-range
        fusion.2{}:5-6
      Live ranges at 5 (peak):
        fusion.2{}: 4096 bytes (cumulative: 4096 bytes)
        negate.7{}: 4096 bytes (cumulative: 8192 bytes)
        ^^^^^^^^^^ negate.7-peak
        x.1{}: 4096 bytes (cumulative: 12288 bytes)
        fusion{1}: 256 bytes (cumulative: 12544 bytes)
        ^^^^^^^^^ fusion1-peak
      Stack trace breakdown for peak usage: 12 544 bytes
        main (100.0%, total: 12 544 bytes, current: 0 bytes, remaining: 12 544 bytes)
          ├── fusion.2 (32.7%, total: 4 096 bytes, current: 4 096 bytes, remaining: 8 448 bytes)
          ├── jit(f)/neg (32.7%, total: 4 096 bytes, current: 4 096 bytes, remaining: 4 352 bytes)
          ├── x (32.7%, total: 4 096 bytes, current: 4 096 bytes, remaining: 256 bytes)
          └── fusion{1} (2.0%, total: 256 bytes, current: 256 bytes, remaining: 0 bytes)
    """
)
MODULE = mark(
    """
    HloModule jit_f, is_scheduled=true

    %region (p: f32[], q: f32[]) -> f32[] {
     ^^^^^^ region-line
      %p = f32[]{:T(128)} parameter(0)
      %q = f32[]{:T(128)} parameter(1)
      ROOT %add.9 = f32[]{:T(128)} add(%p, %q)
    }

    %fused (param: f32[16,64]) -> (f32[16,64], f32[64]) {
     ^^^^^ fused-line
      %param = f32[16,64]{1,0:T(8,128)} parameter(0)
      %constant.1 = f32[]{:T(128)} constant(0)
      %reduce.1 = f32[64]{0:T(128)} reduce(%param, %constant.1), dimensions={0}, to_apply=%region
                                                                                           ^^^^^^ region-call
      ROOT %tuple.1 = (f32[16,64]{1,0:T(8,128)}, f32[64]{0:T(128)}) tuple(%param, %reduce.1)
    }

    %fused.1 (param.1: f32[16,64], param.2: f32[64]) -> f32[16,64] {
     ^^^^^^^ fused.1-line
      %param.1 = f32[16,64]{1,0:T(8,128)} parameter(0)
      %param.2 = f32[64]{0:T(128)} parameter(1)
      %broadcast.1 = f32[16,64]{1,0:T(8,128)} broadcast(%param.2), dimensions={1}
      ROOT %add.1 = f32[16,64]{1,0:T(8,128)} add(%param.1, %broadcast.1)
    }

    ENTRY %main (x.1: f32[16,64]) -> f32[16,64] {
      %x.1 = f32[16,64]{1,0:T(8,128)} parameter(0), metadata={op_name="x"}
       ^^^ x.1-line
      %fusion = (f32[16,64]{1,0:T(8,128)S(1)}, f32[64]{0:T(128)S(1)}) fusion(%x.1), kind=kLoop, calls=%fused
       ^^^^^^ fusion-line                                                     ^^^ x.1-in-fusion        ^^^^^ fused-call
      %get-tuple-element = f32[16,64]{1,0:T(8,128)S(1)} get-tuple-element(%fusion), index=0
       ^^^^^^^^^^^^^^^^^ gte-line                                          ^^^^^^ fusion-in-gte
      %get-tuple-element.1 = f32[64]{0:T(128)S(1)} get-tuple-element(%fusion), index=1
                                                                      ^^^^^^ fusion-in-gte1
      %negate.7 = f32[16,64]{1,0:T(8,128)S(1)} negate(%get-tuple-element), control-predecessors={%fusion}
       ^^^^^^^^ negate.7-line                          ^^^^^^^^^^^^^^^^^ gte-in-negate            ^^^^^^ fusion-before
      ROOT %fusion.2 = f32[16,64]{1,0:T(8,128)} fusion(%negate.7, %get-tuple-element.1), kind=kLoop, calls=%fused.1
            ^^^^^^^^ fusion.2-line                      ^^^^^^^^ negate.7-in-fusion.2                       ^^^^^^^ fused.1-call
    }
    """  # noqa: E501
)
STEM = "module_0001.jit_f.cl_1.after_optimizations"
FILES = {
    f"{STEM}-buffer-assignment.txt": ASSIGNMENT,
    f"{STEM}-buffer-assignment-values.txt": VALUES,
    f"{STEM}-live-range.txt": LIVE,
    f"{STEM}.txt": MODULE,
}


@dataclass(frozen=True)
class MarkedDump:
    """A compile and the marks in its files."""

    dump: Compile
    marks: dict[str, tuple[DumpFile, Mark]]

    def target(self, name: str) -> CursorTarget:
        """Return the cursor target at the first column of a mark."""
        file, place = self.marks[name]
        target = cursor_target_at(file, *place.position)
        assert target is not None, name
        return target

    def mark_at(self, place: Place | None) -> str | None:
        """Return the name of the mark that covers exactly a place, or else the place as text."""
        if place is None:
            return None
        for name, (file, marked) in self.marks.items():
            if file is place.file and marked == Mark(place.line, place.start, place.end):
                return name
        return f"{Path(place.file.uri).name}:{place.line + 1}:{place.start}-{place.end}"

    def file(self, marked: Marked) -> DumpFile:
        """Return the file that has these marks."""
        return self.marks[next(iter(marked.marks))][0]


def split(*parts: Marked) -> MarkedDump:
    """Return the split generation: all four files, or only the given ones."""
    marks: dict[str, tuple[DumpFile, Mark]] = {}
    files = []
    for name, part in FILES.items():
        if part in (parts or FILES.values()):
            files.append(DumpFile.of_text(part.text, name))
            marks.update((key, (files[-1], place)) for key, place in part.marks.items())
    return MarkedDump(Compile(files), marks)


def one_file() -> MarkedDump:
    """Return the old generation: allocations, values and live ranges in one file, no module."""
    parts = (ASSIGNMENT, VALUES, LIVE)
    text = ASSIGNMENT.text + VALUES.text + "\n\n" + LIVE.text
    file = DumpFile.of_text(text, f"{STEM}-buffer-assignment.txt")
    marks: dict[str, tuple[DumpFile, Mark]] = {}
    for part in parts:
        shift = text[: text.index(part.text)].count("\n")
        for name, place in part.marks.items():
            marks[name] = file, Mark(place.line + shift, place.start, place.end)
    return MarkedDump(Compile([file]), marks)
