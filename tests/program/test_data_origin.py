"""The origin of a buffer is the instruction or argument that produced its data."""

import pytest

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.data_origin import Origin, origin_of, source_label
from scanned_program import (
    CALLED_ENTRY,
    HEAD,
    LOOP,
    MODULE,
    SAVED,
    SAVED_BUFFERS,
    START,
    UPDATE,
    scanned_program,
)

_HEAD = """\
HloModule m

FileNames
1 "model.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=1 end_column=2}
2 {file_name_id=1 function_name_id=1 line=9 end_line=9 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=1}

"""
_LINE_7 = 'metadata={op_name="jit(f)/mul" stack_frame_id=1}'
_LINE_9 = 'metadata={op_name="jit(f)/add" stack_frame_id=2}'


def _origin(text: str, name: str, index: str | None = None) -> Origin:
    origin = origin_of(Compile([DumpFile.of_text(_HEAD + text)]), name, index)
    assert origin is not None
    return origin


def _entry(*lines: str) -> str:
    argument = """%x = f32[4] parameter(0), metadata={op_name="p['w']"}"""
    body = "\n".join(f"  {line}" for line in (argument, *lines))
    return f"ENTRY %main (x: f32[4]) -> f32[4] {{\n{body}\n}}\n"


def test_search_ends_in_deep_tuples() -> None:
    depth = 200
    shapes = ["(" * count + "f32[4]" + ")" * count for count in range(depth, -1, -1)]
    elements = [
        f"%g{number} = {shape} get-tuple-element(%g{number - 1}), index=0"
        for number, shape in enumerate(shapes[1:], 1)
    ]
    found = _origin(_entry(f"%g0 = {shapes[0]} parameter(1)", *elements), f"g{depth}")
    assert len(found.via) == 51


def test_instruction_owns_its_result() -> None:
    origin = _origin(_entry(f"ROOT %m = f32[4] multiply(%x, %x), {_LINE_7}"), "m")
    assert (str(origin.source), origin.op_name, origin.argument) == (
        "model.py:7",
        "jit(f)/mul",
        None,
    )
    assert origin.via == ()


@pytest.mark.parametrize(
    ("lines", "name", "index"),
    [
        (["%c = f32[4] copy(%m)"], "c", None),
        (["%c = f32[4] bitcast(%m)", "%d = f32[4] copy(%c)"], "d", None),
        (["%c = (f32[4], f32[4], u32[]) copy-start(%m)"], "c", "{0}"),
        (
            ["%c = (f32[4], f32[4], u32[]) copy-start(%m)", "%d = f32[4] copy-done(%c)"],
            "d",
            None,
        ),
        (
            ["%t = (f32[4], f32[4]) tuple(%x, %m)", "%g = f32[4] get-tuple-element(%t), index=1"],
            "g",
            None,
        ),
        (["%t = (f32[4], f32[4]) tuple(%x, %m)"], "t", "{1}"),
        (["%c = bf16[4] convert(%m)"], "c", None),
        (
            [
                "%s = (f32[4], f32[8]) all-gather-start(%m)",
                "%d = f32[8] all-gather-done(%s)",
            ],
            "d",
            None,
        ),
        (["%c = f32[2] reduce-scatter(%m), dimensions={0}"], "c", None),
        (['%c = f64[4] custom-call(%m, %m), custom_call_target="X64Combine"'], "c", None),
        (["%c = ((f32[4]), f32[2], u32[]) reduce-scatter-start(%m), dimensions={0}"], "c", "{2}"),
    ],
)
def test_moved_data_belongs_to_its_producer(lines: list[str], name: str, index: str | None) -> None:
    origin = _origin(_entry(f"%m = f32[4] multiply(%x, %x), {_LINE_7}", *lines), name, index)
    assert origin.instruction.record.name == "m"
    assert str(origin.source) == "model.py:7"
    assert origin.via[0] == name


def test_conversion_with_a_source_owns_its_result() -> None:
    lines = (f"%m = f32[4] multiply(%x, %x), {_LINE_7}", f"%c = bf16[4] convert(%m), {_LINE_9}")
    assert _origin(_entry(*lines), "c").instruction.record.name == "c"


def test_copies_of_arguments_name_the_argument() -> None:
    origin = _origin(_entry("%c = f32[4] copy(%x)"), "c")
    assert (origin.argument, origin.source, origin.via) == ("p['w']", None, ("c",))


def test_arguments_without_a_name_have_a_number() -> None:
    text = "ENTRY %main (x: f32[4]) -> f32[4] {\n  ROOT %x = f32[4] parameter(0)\n}\n"
    assert _origin(text, "x").argument == "parameter 0"


_LOOP = f"""\
%body (state: (f32[4], f32[4])) -> (f32[4], f32[4]) {{
  %state = (f32[4], f32[4]) parameter(0)
  %weights = f32[4] get-tuple-element(%state), index=0
  %sum = f32[4] get-tuple-element(%state), index=1
  %next = f32[4] add(%sum, %weights), {_LINE_9}
  ROOT %result = (f32[4], f32[4]) tuple(%weights, %next)
}}

%condition (state.1: (f32[4], f32[4])) -> pred[] {{
  %state.1 = (f32[4], f32[4]) parameter(0)
  ROOT %go = pred[] constant(true)
}}

""" + _entry(
    "%zero = f32[4] broadcast(%x), dimensions={}",
    "%start = (f32[4], f32[4]) tuple(%x, %zero)",
    "ROOT %loop = (f32[4], f32[4]) while(%start), condition=%condition, body=%body",
)


def test_loop_invariants_come_from_outside() -> None:
    assert _origin(_LOOP, "weights").argument == "p['w']"
    assert _origin(_LOOP, "loop", "{0}").argument == "p['w']"


def test_loop_state_belongs_to_the_body() -> None:
    for name, index in (("sum", None), ("loop", "{1}"), ("state", "{1}")):
        assert str(_origin(_LOOP, name, index).source) == "model.py:9"


_FUSION = f"""\
%fused (a: f32[4]) -> (f32[4], f32[4]) {{
  %a = f32[4] parameter(0)
  %sine = f32[4] sine(%a), {_LINE_9}
  ROOT %both = (f32[4], f32[4]) tuple(%sine, %a)
}}

%plain (b: f32[4]) -> f32[4] {{
  %b = f32[4] parameter(0)
  ROOT %cosine = f32[4] cosine(%b), {_LINE_9}
}}

""" + _entry(
    f"%m = f32[4] multiply(%x, %x), {_LINE_7}",
    "%fusion = (f32[4], f32[4]) fusion(%m), kind=kLoop, calls=%fused",
    "%other = f32[4] fusion(%m), kind=kLoop, calls=%plain",
)


def test_elements_of_fusions_belong_to_their_root() -> None:
    assert str(_origin(_FUSION, "fusion", "{0}").source) == "model.py:9"
    assert str(_origin(_FUSION, "fusion", "{1}").source) == "model.py:7"


def test_fusion_without_metadata_has_its_root_line() -> None:
    origin = _origin(_FUSION, "other")
    assert (origin.instruction.record.name, str(origin.source)) == ("other", "model.py:9")


_CONVERSION = """\
%wrapped_convert (a: f32[4]) -> bf16[4] {
  %a = f32[4] parameter(0)
  ROOT %narrow = bf16[4] convert(%a)
}

%wrapped_window (b: f32[4]) -> f32[4] {
  %b = f32[4] parameter(0)
  ROOT %window = f32[4] reduce-window(%b)
}

""" + _entry(
    f"%m = f32[4] multiply(%x, %x), {_LINE_7}",
    "%of_result = bf16[4] fusion(%m), kind=kLoop, calls=%wrapped_convert",
    "%of_argument = bf16[4] fusion(%x), kind=kLoop, calls=%wrapped_convert",
    "%computed = f32[4] fusion(%m), kind=kLoop, calls=%wrapped_window",
)


def test_fusion_of_conversions_belongs_to_operand() -> None:
    origin = _origin(_CONVERSION, "of_result")
    assert (str(origin.source), origin.via) == ("model.py:7", ("of_result",))
    assert _origin(_CONVERSION, "of_argument").argument == "p['w']"


def test_computation_without_metadata_has_no_line() -> None:
    origin = _origin(_CONVERSION, "computed")
    assert (origin.instruction.record.name, origin.source) == ("computed", None)


@pytest.mark.parametrize(
    "empty",
    ['custom-call(), custom_call_target="AllocateBuffer"', "broadcast(%zero), dimensions={}"],
)
def test_empty_buffer_belongs_to_the_loop_that_fills_it(empty: str) -> None:
    body = _LOOP[: _LOOP.index("ENTRY")]
    text = body + _entry(
        "%zero = f32[] constant(0)",
        f"%empty = f32[4] {empty}",
        "%copied = f32[4] copy(%empty)",
        "%start = (f32[4], f32[4]) tuple(%x, %copied)",
        "ROOT %loop = (f32[4], f32[4]) while(%start), condition=%condition, body=%body",
    )
    origin = _origin(text, "empty")
    assert (origin.instruction.record.name, str(origin.source)) == ("empty", "model.py:9")
    assert str(_origin(text, "copied").source) == "model.py:9"


def test_offloaded_data_owns_its_host_buffer() -> None:
    text = (
        """\
%update (b: f32[8,4], u: f32[1,4], i: s32[]) -> f32[8,4] {
  %b = f32[8,4] parameter(0)
  %u = f32[1,4] parameter(1)
  %i = s32[] parameter(2)
  ROOT %updated = f32[8,4] dynamic-update-slice(%b, %u, %i, %i)
}

%body (p: (s32[], f32[8,4], f32[1,4])) -> (s32[], f32[8,4], f32[1,4]) {
  %p = (s32[], f32[8,4], f32[1,4]) parameter(0)
  %n = s32[] get-tuple-element(%p), index=0
  %host = f32[8,4] get-tuple-element(%p), index=1
  %last = f32[1,4] get-tuple-element(%p), index=2
  %s = ((f32[8,4], f32[1,4], s32[]), f32[8,4], u32[]) async-start(%host, %last, %n), calls=%update
"""
        f"  %next = f32[1,4] multiply(%last, %last), {_LINE_9}\n"
        """\
  %d = f32[8,4] async-done(%s)
  ROOT %r = (s32[], f32[8,4], f32[1,4]) tuple(%n, %d, %next)
}

%condition (q: (s32[], f32[8,4], f32[1,4])) -> pred[] {
  %q = (s32[], f32[8,4], f32[1,4]) parameter(0)
  ROOT %true = pred[] constant(true)
}

"""
        + _entry(
            "%zero = s32[] constant(0)",
            '%empty = f32[8,4] custom-call(), custom_call_target="AllocateBuffer"',
            "%first = f32[1,4] bitcast(%x)",
            "%start = (s32[], f32[8,4], f32[1,4]) tuple(%zero, %empty, %first)",
            "ROOT %loop = (s32[], f32[8,4], f32[1,4]) while(%start), condition=%condition, "
            "body=%body",
        )
    )
    assert str(_origin(text, "empty").source) == "model.py:9"


def _saved(text: str, buffer: str = "loop{2}") -> tuple[str, str | None, str]:
    """Return the Python lines of the data and of the loop that saved it, and the operation."""
    name, brace, index = buffer.partition("{")
    origin = origin_of(scanned_program(text), name, brace + index or None)
    assert origin is not None
    saved_by = None if origin.saved_by is None else origin.saved_by.short
    source = "" if origin.source is None else origin.source.short
    return source, saved_by, (origin.op_name or "").rpartition("/")[2]


@pytest.mark.parametrize("buffer", SAVED_BUFFERS)
@pytest.mark.parametrize(
    "text", [MODULE, MODULE.replace(f",{START}", ""), HEAD + LOOP + CALLED_ENTRY]
)
def test_saved_data_own_the_buffer_of_a_scan(buffer: str, text: str) -> None:
    if "%call " in text:
        buffer = buffer.replace("loop", "call")
    assert _saved(text, buffer) == ("train.py:19", "train.py:22", "tanh")


def test_update_in_a_cached_function_is_of_the_scan() -> None:
    cached = UPDATE.replace("/dynamic_update", "/jit(dynamic_update_index_in_dim)/dynamic_update")
    text = MODULE.replace(UPDATE, cached.replace("id=2", "id=3"))
    assert _saved(text) == ("train.py:19", "train.py:22", "tanh")


def test_update_in_the_body_of_a_loop_owns_its_buffer() -> None:
    text = MODULE.replace(UPDATE, UPDATE.replace("id=2", "id=3"))
    for buffer in ("saved", "p{2}", "loop{2}"):
        assert _saved(text, buffer) == ("train.py:31", None, "dynamic_update_slice")


def test_buffer_of_another_line_keeps_its_line() -> None:
    text = MODULE.replace(START, START.replace("id=2", "id=3"))
    assert _saved(text, "empty") == ("train.py:31", None, "broadcast_in_dim")


def test_data_in_a_fusion_with_their_update_are_found() -> None:
    text = MODULE.replace("%row = f32[1,4] bitcast(%u)", f"%row = f32[1,4] tanh(%u),{SAVED}")
    text = text.replace(f"tanh(%carry),{SAVED}", "negate(%carry)")
    assert _saved(text) == ("train.py:19", "train.py:22", "tanh")


def test_saved_state_belongs_to_what_computes_it() -> None:
    text = MODULE.replace("fusion(%stack, %next", "fusion(%stack, %carry")
    assert _saved(text) == ("train.py:19", "train.py:22", "tanh")


def test_updates_of_an_unrolled_scan_are_saved() -> None:
    twice = f"%saved = f32[8,4] fusion(%first, %next, %n), kind=kLoop, calls=%save,{UPDATE}"
    text = MODULE.replace("%saved =", "%first =").replace(
        "  %one = s32", f"  {twice}\n  %one = s32"
    )
    assert _saved(text) == ("train.py:19", "train.py:22", "tanh")


def test_conversion_of_saved_data_is_no_operation() -> None:
    call = 'metadata={op_name="jit(f)/while/body/eval_jaxpr" stack_frame_id=2}'
    text = MODULE.replace("%row = f32[1,4] bitcast(%u)", f"%row = f32[1,4] convert(%u), {call}")
    assert _saved(text) == ("train.py:19", "train.py:22", "tanh")


def test_label_names_the_scan() -> None:
    origin = origin_of(scanned_program(), "loop", "{2}")
    assert origin is not None
    assert origin.label == "train.py:19 tanh, saved by the scan at :22"


def test_label_names_another_file_of_the_scan() -> None:
    text = MODULE.replace('train.py"\n', 'layers.py"\n2 "/home/user/train.py"\n').replace(
        "file_name_id=1 function_name_id=2", "file_name_id=2 function_name_id=2"
    )
    origin = origin_of(scanned_program(text), "loop", "{2}")
    assert origin is not None
    assert origin.label == "layers.py:19 tanh, saved by the scan at train.py:22"


def test_reduced_element_comes_from_its_operand() -> None:
    text = _entry(
        f"%y = f32[4] add(%x, %x), {_LINE_9}",
        "%sums = (f32[4], f32[4]) all-reduce(%x, %y), to_apply=%sum",
        "%start = (f32[4], f32[4]) all-reduce-start(%x, %y), to_apply=%sum",
        "ROOT %done = (f32[4], f32[4]) all-reduce-done(%start)",
    )
    assert _origin(text, "sums", "{1}").instruction.record.name == "y"
    assert _origin(text, "done", "{1}").instruction.record.name == "y"


def test_received_data_come_from_recv() -> None:
    text = _entry(
        f"%r = (f32[4], u32[], token[]) recv(%t), channel_id=1, {_LINE_9}",
        "ROOT %d = (f32[4], token[]) recv-done(%r), channel_id=1",
    )
    assert _origin(text, "d", "{0}").instruction.record.name == "r"


def test_circular_text_ends() -> None:
    text = _entry("%a = f32[4] copy(%b)", "%b = f32[4] copy(%a)")
    assert _origin(text, "a").source is None


def test_unknown_instruction_has_no_origin() -> None:
    assert origin_of(Compile([DumpFile.of_text(_HEAD + _entry())]), "absent", None) is None


def test_circular_calls_of_fusions_end() -> None:
    text = """\
HloModule m

%a (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %inner = f32[8]{0} fusion(%p), kind=kLoop, calls=%a
}

ENTRY %e (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  ROOT %outer = f32[8]{0} fusion(%x), kind=kLoop, calls=%a
}
"""
    dump = Compile([DumpFile.of_text(text)])
    for name in ("outer", "inner"):
        origin = origin_of(dump, name, None)
        assert origin is not None
        assert origin.source is None


@pytest.mark.parametrize(
    ("op_name", "label"),
    [
        ("jit(f)/transpose[permutation=(1, 0)]", "transpose"),
        ("jit(f)/custom[\n  name=g\n]", "custom"),
        (r"p[\'w1\']", "p['w1']"),
        ("params[2][0]", "params[2][0]"),
        (None, ""),
    ],
)
def test_label_has_names_without_parameters(op_name: str | None, label: str) -> None:
    assert source_label(None, op_name) == label
