"""Repeated strings, and the places in each kind of dump where tests insert them."""

from collections.abc import Iterator

from lsp.opened import DUMP

RUNS = {
    "open parentheses": "(", "closed parentheses": ")", "open brackets": "[",
    "closed brackets": "]", "open braces": "{", "closed braces": "}", "open angles": "<",
    "closed angles": ">", "empty parentheses": "()", "empty braces": "{}", "digits": "7",
    "spaced digits": "7 ", "listed digits": "7,", "minus signs": "-", "blanks": " ", "tabs": "\t",
    "empty lines": "\n", "blank lines": " \n", "quotes": '"', "apostrophes": "'",
    "backslashes": "\\", "escaped quotes": '\\"', "opened comments": "/*", "closed comments": "*/",
    "comments": "/**/", "slashes": "/", "arrows": "->", "spaced arrows": " -> ",
    "signatures": "() -> ", "equals signs": "=", "commas": ",", "percent signs": "%",
    "percent names": "%a ", "colons": ":", "dots": ".", "letters": "a", "capitals": "T",
    "words": "a ", "unicode": "é", "branches": "│   ", "bars": "|", "attributes": ", a=b",
    "set attributes": ", a={b}", "tiles": "(8,128)", "layouts": "{0:T(8)}", "shapes": "f32[2]{0}, ",
    "joined shapes": "f32[2]", "tuples": "(f32[2], ", "calls": "add(", "angle values": "<1 x @0>",
    "at signs": "@", "roots": "ROOT ", "assignments": "%a = ", "stars": "*** ",
    "entries": "ENTRY ", "arrays": "a[", "brace names": "a{", "letters of layouts": "S(1)",
    "numbers of frames": "1 {", "escapes": "\\n", "carriage returns": "\r", "null": "\0",
    "index comments": "/*index=5*/",
}  # fmt: skip

# "«»" marks each place.
MODULE = """\
HloModule m, is_scheduled=true, entry_computation_layout={(f32[4]{0})->f32[4]{0}«»}, x=1«»

FileNames
1 "a«».py"«»

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=1«» end_line=1 column=1 end_column=1}

StackFrames
1 {file_location_id=1«»}
«»
%f (p: f32[4]«») -> f32[4]«» {«»
  %p = f32[4]{0«»} parameter(0)
  ROOT %n = f32[4]{0} negate(%p«»)«», metadata={op_name="jit(f)/neg«»" stack_frame_id=1}
}

ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0), sharding={devices=[4]<=[4]«»}
  %c = f32[4]{0} constant({1, 2, 3, 4«»})
«»
  %«»b = «»f32[4]{0} «»call(%a), to_apply=%f, backend_config={"a":"b«»"«»}
  %w = (f32[4]{0}, f32[4]{0}«») custom-call(%a), custom_call_target="x", metadata={a="b"«»}
  ROOT %r = f32[4]{0} add(%b, %c) /*«»*/
}«»
"""
MEMORY = (
    DUMP.replace("BufferAssignment:", "BufferAssignment:«»", 1)
    .replace("allocation 0: size 512,", "allocation 0: size 512«»,«»")
    .replace("|f32[4]|", "|f32[4]«»|", 1)
    .replace("ShapeIndex {}", "ShapeIndex {«»}")
    .replace(" value: <1 x @0>", " value: <1 x«» @0>")
    .replace("f32[4]{0:T(128)}\n", "f32[4]{0:T(128)«»}\n", 1)
    .replace("Total bytes used: 2048 (2.0KiB)", "«»Total bytes used: 2048«» (2.0KiB)")
    .replace("<2 add @1>\n", "<2 add«» @1>«»\n")
    .replace("add, operand 0", "add«», operand 0«»", 1)
    .replace("from instruction: %x =", "from instruction: «»%x =", 1)
    .replace('{op_name="x"}', '{op_name="x«»"}«»')
    .replace("HloLiveRange (max 3)", "HloLiveRange (max 3«»)")
    .replace("    0:x", "    0:x«»")
    .replace("x{}:0-3", "x«»{«»}:0-3")
    .replace("mul{}: 16 bytes", "mul«»{}: 16«» bytes")
    .replace("jit(f)/add (33.3%", "«»jit(f)/add«» (33.3%«»")
)
REPORT = """\
Memory Space: default (color=0«»)
Total bytes: 2048 (2.0KiB)

allocation 0: size 1.0KiB, preallocated-temp«»:
  cumulative_size;       size;       offset; used_by_n_values; shapes_list
  ------------------------------------------------------------
      1.0KiB( 50%);     1.0KiB;            0;                1; f32[4]«», f32[4]
«»
  The rest 3 values are less than 5% of the total size and not shown.
"""
THUNKS = """\
001: kSequential\t«»
    002: kKernel\t«»[source='a«».py'] profile_annotation = x«», kernel = k«»
«»
"""
OOM = """\
E0101 12:00:00.0 1 x.cc:1] RESOURCE_EXHAUSTED: «»XLA:TPU compile permanent error. \
Ran out of memory in memory space hbm. Used 9.00G of 8.00G hbm. Exceeded hbm capacity by 1.00G«».
«»
Total hbm usage >= 9.00G:
    reserved        530.00M
    program           8.45G «»
Largest program allocations in hbm:

  1. Size: 4.00G«»
     Operator: op_name="jit(f)/add«»" source_file="a.py" source_line=1«»
     Shape: f32[1024,1048576]{1,0:T(8,128)«»}
     Unpadded size: 4.00G
     XLA label: add.1 = add(x, y)«»
     Allocation type: HLO temp
     ==========================
"""
STDOUT = (
    "*** Begin module_0001.f«».txt ***\n" + MODULE.replace("«»", "") + "*** End module_0001.f.txt"
    " ***«»\n«»\n*** Begin module_0001.f-buffer-assignment.txt ***\nBufferAssignment:\n«»"
)
_PLACE = "«»"
TEXTS = {
    "module": MODULE, "memory": MEMORY, "report": REPORT, "thunks": THUNKS, "oom": OOM,
    "stdout": STDOUT,
}  # fmt: skip


def places() -> Iterator[tuple[str, str, str]]:
    """Yield a name for each place, and the texts before and after it."""
    for name, text in TEXTS.items():
        parts = text.split(_PLACE)
        for number in range(1, len(parts)):
            yield f"{name} {number}", "".join(parts[:number]), "".join(parts[number:])
