"""The origin of a buffer is the instruction or argument that produced its data."""

import pytest

from hlo_lsp.memory.data_origin import Origin, origin_of
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

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
