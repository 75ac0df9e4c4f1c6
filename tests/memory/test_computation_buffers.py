"""Buffers that computations define."""

from hlo_lsp.memory.computation_buffers import ComputationBuffers, buffers_by_computation
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

MODULE = """\
HloModule m, is_scheduled=true

%body (p: f32[4]) -> f32[4] {
  %p = f32[4] parameter(0)
  %a = f32[4] negate(%p)
  %b = f32[4] negate(%a)
  ROOT %c = f32[4] negate(%b)
}

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4] parameter(0)
  ROOT %loop = f32[4] while(%x), condition=%body, body=%body
}
"""
ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 512, parameter 0, shape |f32[4]| at ShapeIndex {}:
 value: <1 x @0> (size=512,offset=0): f32[4]{0}
 value: <2 p @0> (size=512,offset=0): f32[4]{0}
 value: <3 b @0> (size=512,offset=0): f32[4]{0}
allocation 1: size 1024, preallocated-temp:
 value: <4 a @0> (size=512,offset=0): f32[4]{0}
 value: <5 c @0> (size=768,offset=256): f32[6]{0}
"""


def test_shared_ranges_and_bytes_count_once() -> None:
    files = [DumpFile.of_text(MODULE, "m.txt"), DumpFile.of_text(ASSIGNMENT, "m-b.txt")]
    inside = {home.name: found for home, found in buffers_by_computation(Compile(files)).items()}
    assert set(inside) == {"body"}
    assert (inside["body"].buffers, inside["body"].bytes) == (3, 512 + 1024)


# A loop on two buffers of 1 MiB. Its condition only passes them on, and writes one byte twice.
LOOP = """\
HloModule m, is_scheduled=true

%cond (arg: (s32[4], f32[262144])) -> pred[] {
  %arg = (s32[4]{0}, f32[262144]{0}) parameter(0)
  %tokens = s32[4]{0} get-tuple-element(%arg), index=0
  %all = pred[] fusion(%tokens), kind=kInput, calls=%fused
  ROOT %not = pred[] fusion(%all), kind=kLoop, calls=%fused.1
}

%body (arg.1: (s32[4], f32[262144])) -> (s32[4], f32[262144]) {
  %arg.1 = (s32[4]{0}, f32[262144]{0}) parameter(0)
  %tokens.1 = s32[4]{0} get-tuple-element(%arg.1), index=0
  %cache = f32[262144]{0} get-tuple-element(%arg.1), index=1
  %next = f32[262144]{0} fusion(%cache), kind=kLoop, calls=%fused.2
  ROOT %tuple = (s32[4]{0}, f32[262144]{0}) tuple(%tokens.1, %next)
}

ENTRY %main (x: s32[4], y: f32[262144]) -> (s32[4], f32[262144]) {
  %x = s32[4]{0} parameter(0)
  %y = f32[262144]{0} parameter(1)
  %init = (s32[4]{0}, f32[262144]{0}) tuple(%x, %y)
  ROOT %while = (s32[4]{0}, f32[262144]{0}) while(%init), condition=%cond, body=%body
}
"""
LOOP_ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 16, parameter 0, shape |s32[4]| at ShapeIndex {}, maybe-live-out:
 value: <1 x @0> (size=16,offset=0): s32[4]{0}
 value: <2 arg{0} (phi) @0> (size=16,offset=0): s32[4]{0}
 value: <3 while{0} (phi) @0> (size=16,offset=0): s32[4]{0}
allocation 1: size 1048576, parameter 1, shape |f32[262144]| at ShapeIndex {}, maybe-live-out:
 value: <4 y @0> (size=1048576,offset=0): f32[262144]{0}
 value: <5 arg{1} (phi) @0> (size=1048576,offset=0): f32[262144]{0}
 value: <6 arg.1{1} (phi) @0> (size=1048576,offset=0): f32[262144]{0}
 value: <7 next @0> (size=1048576,offset=0): f32[262144]{0}
 value: <8 while{1} (phi) @0> (size=1048576,offset=0): f32[262144]{0}
allocation 2: size 1, preallocated-temp:
 value: <9 all @0> (size=1,offset=0): pred[]
 value: <10 not @0> (size=1,offset=0): pred[]
"""


def test_forwarded_buffers_do_not_count() -> None:
    files = [DumpFile.of_text(LOOP, "m.txt"), DumpFile.of_text(LOOP_ASSIGNMENT, "m-b.txt")]
    inside = {home.name: found for home, found in buffers_by_computation(Compile(files)).items()}
    assert inside == {"cond": ComputationBuffers(1, 1), "body": ComputationBuffers(1, 1_048_576)}
