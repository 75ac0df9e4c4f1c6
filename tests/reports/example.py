"""A small compile: an argument, two values that share bytes over time, and an output."""

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

STEM = "module_0001.jit_f.cl_12.after_optimizations"  # of the names of its files
MODULE = """\
HloModule jit_f, is_scheduled=true

FileNames
1 "/home/user/model.py"

FunctionNames
1 "main"
2 "layer"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=1 end_column=2}
2 {file_name_id=1 function_name_id=2 line=3 end_line=3 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

ENTRY %main (x: f32[256]) -> f32[256] {
  %x = f32[256]{0} parameter(0), metadata={op_name="p['w']"}
  %a = f32[512]{0} sine(%x), metadata={op_name="jit(f)/jvp()/sin" stack_frame_id=2}
  %b = f32[256]{0} slice(%a), slice={[0:256]}, metadata={op_name="jit(f)/cos" stack_frame_id=1}
  %c = f32[512]{0} cosine(%b), metadata={op_name="jit(f)/tanh" stack_frame_id=1}
  ROOT %r = f32[256]{0} add(%b, %c), metadata={op_name="jit(f)/add" stack_frame_id=1}
}
"""
ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 1024, parameter 0, shape |f32[256]| at ShapeIndex {}:
 value: <1 x @0> (size=1024,offset=0): f32[256]{0}
allocation 1: size 1024, output shape is |f32[256]|, maybe-live-out:
 value: <5 r @0> (size=1024,offset=0): f32[256]{0}
allocation 2: size 3072, preallocated-temp:
 value: <2 a @0> (size=2048,offset=0): f32[512]{0}
 value: <3 b @0> (size=1024,offset=2048): f32[256]{0}
 value: <4 c @0> (size=2048,offset=0): f32[512]{0}
"""
RANGES = """\
HloLiveRange (max 5):
  InstructionSequence:
    0:x
    1:a
    2:b
    3:c
    4:r
  BufferLiveRange:
    x{}:0-5
    a{}:1-2
    b{}:2-4
    c{}:3-4
    r{}:4-5
"""
FIXED_BYTES = 2048
BYTES = (2048, 4096, 5120, 5120, 5120, 2048)  # occupied at each step
PEAK_STEP = 2


def example(*texts: str) -> Compile:
    """Return the compile, or one of other texts."""
    return Compile([DumpFile.of_text(text) for text in texts or (ASSIGNMENT, RANGES, MODULE)])
