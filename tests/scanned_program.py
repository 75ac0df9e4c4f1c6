"""A compile whose loop saves data of each iteration, as ``lax.scan`` does for a backward pass."""

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

SAVED = ' metadata={op_name="jit(f)/while/body/eval_jaxpr/tanh" stack_frame_id=1}'
SCAN = ' metadata={op_name="jit(f)/while" stack_frame_id=2}'
UPDATE = ' metadata={op_name="jit(f)/while/body/dynamic_update_slice" stack_frame_id=2}'
START = ' metadata={op_name="jit(f)/broadcast_in_dim" stack_frame_id=2}'
HEAD = """\
HloModule jit_f, is_scheduled=true

FileNames
1 "/home/user/train.py"

FunctionNames
1 "layer"
2 "loss"

FileLocations
1 {file_name_id=1 function_name_id=1 line=19 end_line=19 column=1 end_column=2}
2 {file_name_id=1 function_name_id=2 line=22 end_line=22 column=1 end_column=2}
3 {file_name_id=1 function_name_id=2 line=31 end_line=31 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=3}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=3 parent_frame_id=3}

"""
_STATE = "(s32[], f32[4], f32[8,4])"
LOOP = f"""\
%save (b: f32[8,4], u: f32[4], i: s32[]) -> f32[8,4] {{
  %b = f32[8,4] parameter(0)
  %u = f32[4] parameter(1)
  %row = f32[1,4] bitcast(%u)
  %i = s32[] parameter(2)
  %z = s32[] constant(0)
  ROOT %update = f32[8,4] dynamic-update-slice(%b, %row, %i, %z),{UPDATE}
}}

%body (p: {_STATE}) -> {_STATE} {{
  %p = {_STATE} parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %carry = f32[4] get-tuple-element(%p), index=1
  %stack = f32[8,4] get-tuple-element(%p), index=2
  %next = f32[4] tanh(%carry),{SAVED}
  %saved = f32[8,4] fusion(%stack, %next, %n), kind=kLoop, calls=%save,{UPDATE}
  %one = s32[] constant(1)
  %m = s32[] add(%n, %one),{SCAN}
  ROOT %r = {_STATE} tuple(%m, %next, %saved)
}}

%condition (q: {_STATE}) -> pred[] {{
  %q = {_STATE} parameter(0)
  %k = s32[] get-tuple-element(%q), index=0
  %eight = s32[] constant(8)
  ROOT %go = pred[] compare(%k, %eight), direction=LT,{SCAN}
}}

"""
ENTRY = f"""\
ENTRY %main (x: f32[4]) -> f32[8,4] {{
  %x = f32[4] parameter(0), metadata={{op_name="x"}}
  %zero = s32[] constant(0)
  %float = f32[] constant(0)
  %empty = f32[8,4] broadcast(%float), dimensions={{}},{START}
  %start = {_STATE} tuple(%zero, %x, %empty)
  %loop = {_STATE} while(%start), condition=%condition, body=%body,{SCAN}
  ROOT %result = f32[8,4] get-tuple-element(%loop), index=2
}}
"""
# XLA for CPUs wraps small loops.
CALLED_ENTRY = f"""\
%called (s: {_STATE}) -> {_STATE} {{
  %s = {_STATE} parameter(0)
  ROOT %loop = {_STATE} while(%s), condition=%condition, body=%body,{SCAN}
}}

""" + ENTRY.replace(
    "while(%start), condition=%condition, body=%body", "call(%start), to_apply=%called"
).replace("%loop", "%call")
MODULE = HEAD + LOOP + ENTRY
ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 16, parameter 0, shape |f32[4]| at ShapeIndex {}:
 value: <0 x @0> (size=16,offset=0): f32[4]{0}
allocation 1: size 128, output shape is |f32[8,4]|, maybe-live-out:
 value: <1 empty @0> (size=128,offset=0): f32[8,4]{1,0}
 value: <2 p{2} @0> (size=128,offset=0): f32[8,4]{1,0}
 value: <3 saved @0> (size=128,offset=0): f32[8,4]{1,0}
 value: <4 loop{2} @0> (size=128,offset=0): f32[8,4]{1,0}
"""
RANGES = """\
HloLiveRange (max 6):
  InstructionSequence:
    0:x
    1:empty
    2:p
    3:saved
    4:loop
    5:result
  BufferLiveRange:
    x{}:0-6
    empty{}:1-2
    p{2}:2-3
    saved{}:3-4
    loop{2}:4-6
"""
SAVED_BUFFERS = ("empty", "p{2}", "saved", "loop{2}")


def scanned_program(module: str = MODULE) -> Compile:
    """Return a compile with a module text, and a buffer assignment of the program above."""
    return Compile([DumpFile.of_text(text) for text in (module, ASSIGNMENT, RANGES)])
