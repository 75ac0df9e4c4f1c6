"""A module text that calls computations in every way, with marks.

Both branches use the same names of parameters and roots: a name is local to its computation.
"""

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from marked_dump import MarkedDump
from marks import Mark, mark

PROGRAM = mark(
    """
    HloModule jit_p, is_scheduled=true, input_output_alias={ {0}: (1, {}, may-alias) }, entry_computation_layout={(pred[], f32[8]{0}, s32[]) -> (f32[8]{0}, f32[8]{0}, f32[8]{0}, f32[]) }
                                                                   ^ alias

    FileNames
    1 "/home/user/a.py"
    ^^^^^^^^^^^^^^^^^^^ file-1
    2 "/home/user/b.py"
    ^^^^^^^^^^^^^^^^^^^ file-2

    FunctionNames
    1 "main"
    ^^^^^^^^ function-1
    2 "layer"
    ^^^^^^^^^ function-2

    FileLocations
    1 {file_name_id=1 function_name_id=1 line=10 end_line=10 column=1 end_column=9}
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ location-1
    2 {file_name_id=2 function_name_id=2 line=20 end_line=20 column=1 end_column=9}
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ location-2

    StackFrames
    1 {file_location_id=1 parent_frame_id=1}
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ frame-1
    2 {file_location_id=2 parent_frame_id=2}
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ frame-2

    %sum (x: f32[], y: f32[]) -> f32[] {
     ^^^ sum
      %x = f32[] parameter(0)
      %y = f32[] parameter(1)
      ROOT %s = f32[] add(%x, %y)
            ^ sum-root
    }

    %fused (param: f32[8], param.1: f32[8]) -> (f32[8], f32[8]) {
     ^^^^^ fused
            ^^^^^ signed-param
      %param = f32[8]{0} parameter(0)
       ^^^^^ param                 ^ number-0
      %param.1 = f32[8]{0} parameter(1)
       ^^^^^^^ param.1               ^ number-1
      %product = f32[8]{0} multiply(%param, %param.1), metadata={op_name="jit(p)/mul" stack_frame_id=2}
       ^^^^^^^ product               ^^^^^ param-used
      ROOT %pair = (f32[8]{0}, f32[8]{0}) tuple(%product, %param.1)
            ^^^^ pair                                      ^^^^^^^ param.1-in-pair
    }

    %cond (cond.state: (s32[], f32[8])) -> pred[] {
     ^^^^ cond
      %cond.state = (s32[], f32[8]{0}) parameter(0)
       ^^^^^^^^^^ cond.state                     ^ cond-number
      %i.1 = s32[] get-tuple-element(%cond.state), index=0
      %limit = s32[] constant(5)
      ROOT %less = pred[] compare(%i.1, %limit), direction=LT
            ^^^^ less
    }

    %body (state: (s32[], f32[8])) -> (s32[], f32[8]) {
     ^^^^ body
      %state = (s32[], f32[8]{0}) parameter(0)
       ^^^^^ state                          ^ state-number
      %i = s32[] get-tuple-element(%state), index=0
                                                  ^ index-0
      %carried = f32[8]{0} get-tuple-element(%state), index=1
                                                            ^ index-1
      %one = s32[] constant(1)
      %next = s32[] add(%i, %one)
       ^^^^ next
      %doubled = f32[8]{0} add(%carried, %carried)
       ^^^^^^^ doubled
      ROOT %turned = (s32[], f32[8]{0}) tuple(%next, %doubled)
            ^^^^^^ turned
    }

    %yes (a: f32[8]) -> f32[8] {
     ^^^ yes
      %a = f32[8]{0} parameter(0)
       ^ yes-a
      ROOT %r = f32[8]{0} negate(%a)
            ^ yes-r               ^ a-in-yes
    }

    %no (a: f32[8]) -> f32[8] {
     ^^ no
         ^ signed-a
      %a = f32[8]{0} parameter(0)
       ^ no-a                  ^ no-number
      ROOT %r = f32[8]{0} add(%a, %a)
            ^ no-r             ^ a-in-no
                                   ^ a-in-no-too
    }

    %called (c: f32[8], c.1: s32[]) -> f32[8] {
     ^^^^^^ called
      %c = f32[8]{0} parameter(0)
       ^ c
      %c.1 = s32[] parameter(1)
       ^^^ c.1               ^ called-number
      ROOT %copied = f32[8]{0} copy(%c)
            ^^^^^^ copied
    }

    %later (l: f32[8]) -> f32[8] {
     ^^^^^ later
      %l = f32[8]{0} parameter(0)
       ^ l                     ^ later-number
      ROOT %sine = f32[8]{0} sine(%l)
            ^^^^ later-root
    }

    ENTRY %main (flag: pred[], v: f32[8], n: s32[]) -> (f32[8], f32[8], f32[8], f32[]) {
           ^^^^ main           ^ signed-v
      %flag = pred[] parameter(0)
       ^^^^ flag
      %v = f32[8]{0} parameter(1), metadata={op_name="v" stack_frame_id=1}
       ^ v                     ^ v-number                ^^^^^^^^^^^^^^^^ frame-of-v
      %n = s32[] parameter(2)
       ^ n
      %call = f32[8]{0} call(%v, %n), to_apply=%called
       ^^^^ call              ^ v-in-call       ^^^^^^ called-by-call
                                  ^ n-in-call
      %fusion = (f32[8]{0}, f32[8]{0}) fusion(%call, %v), kind=kLoop, calls=%fused
       ^^^^^^ fusion                           ^^^^ call-in-fusion           ^^^^^ fused-called
                                                      ^ v-in-fusion
      %first = f32[8]{0} get-tuple-element(%fusion), index=0
       ^^^^^ first-line                     ^^^^^^ fusion-in-first
                                                           ^ index-of-first
      %second = f32[8]{0} get-tuple-element(%fusion), index=1
       ^^^^^^ second-line                                   ^ index-of-second
      %start = ((f32[8]{0}), f32[8]{0}, u32[]) async-start(%first), calls=%later
       ^^^^^ start                                          ^^^^^ first-in-start
                                                                           ^^^^^ later-called
      %init = (s32[], f32[8]{0}) tuple(%n, %first), control-predecessors={%start}
       ^^^^ init                        ^ n-in-init                        ^^^^^ start-before
      %loop = (s32[], f32[8]{0}) while(%init), condition=%cond, body=%body
       ^^^^ loop                        ^^^^ init-in-loop ^^^^ cond-called
                                                                      ^^^^ body-called
      %turns = s32[] get-tuple-element(%loop), index=0
                                                     ^ index-of-turns
      %grown = f32[8]{0} get-tuple-element(%loop), index=1
                                                         ^ index-of-grown
      %choice = f32[8]{0} conditional(%flag, %first, %second), true_computation=%yes, false_computation=%no
       ^^^^^^ choice                   ^^^^ flag-in-choice                       ^^^ yes-called          ^^ no-called
                                              ^^^^^ first-in-choice
                                                      ^^^^^^ second-in-choice
      %done = f32[8]{0} async-done(%start)
       ^^^^ done                    ^^^^^ start-in-done
      %zero = f32[] constant(0)
      %total = f32[] reduce(%done, %zero), dimensions={0}, to_apply=%sum
                                                                     ^^^ sum-called
      ROOT %result = (f32[8]{0}, f32[8]{0}, f32[8]{0}, f32[]) tuple(%grown, %second, %choice, %total)
            ^^^^^^ result
    }
    """  # noqa: E501
)
NAME = "module_0002.jit_p.cl_1.after_optimizations.txt"


def file_of(text: str) -> DumpFile:
    """Return a file with a module text."""
    return DumpFile.of_text(text, NAME)


def program() -> MarkedDump:
    """Return the program as a dump of one file."""
    file = file_of(PROGRAM.text)
    marks: dict[str, tuple[DumpFile, Mark]] = {
        name: (file, place) for name, place in PROGRAM.marks.items()
    }
    return MarkedDump(Compile([file]), marks)
