"""The number of iterations of loops."""

import pytest

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.trip_counts import printed_trip_count, trip_count
from hlo_lsp.syntax.instruction_text import parse_instruction

_WHILE = "%w = s32[] while(%x), condition=%c, body=%b"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (_WHILE + ', backend_config={"known_trip_count":{"n":"33"}}', 33),
        (_WHILE + ', backend_config={"known_init_step":{"init":"0","step":"1"}}', None),
        (_WHILE, None),
        ('%c = s32[] call(%x), to_apply=%b, backend_config={"known_trip_count":{"n":"3"}}', None),
    ],
)
def test_printed_trip_count_is_that_of_xla(text: str, expected: int | None) -> None:
    instruction = parse_instruction(text)
    assert instruction is not None
    assert printed_trip_count(instruction) == expected


_STATE = "(s32[], s32[], f32[8])"
_LOOP = """\
HloModule m

%add_computation {
  %a = s32[] parameter(0)
  %b = s32[] parameter(1)
  ROOT %sum = s32[] add(%b, %a)
}

%compare_computation {
  %a = s32[] parameter(0)
  %b = s32[] parameter(1)
  ROOT %less = pred[] compare(%a, %b), direction=LT
}

%body {
  %p = STATE parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %n = s32[] get-tuple-element(%p), index=1
  %x = f32[8] get-tuple-element(%p), index=2
  %step = s32[] constant(1)
  %copy = s32[] copy(%i)
  %next = s32[] add(%copy, %step)
  ROOT %t = STATE tuple(%next, %n, %x)
}

%condition {
  %p = STATE parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %n = s32[] get-tuple-element(%p), index=1
  %bound = s32[] constant(10)
  ROOT %less = pred[] compare(%i, %bound), direction=LT
}

ENTRY %e {
  %x = f32[8] parameter(0)
  %argument = s32[] parameter(1)
  %start = s32[] constant(0)
  %copied = s32[] copy(%start)
  %seven = s32[] constant(7)
  %t = STATE tuple(%copied, %seven, %x)
  ROOT %w = STATE while(%t), condition=%condition, body=%body
}
""".replace("STATE", _STATE)


def _trip_count(*changes: tuple[str, str]) -> int | None:
    text = _LOOP
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    module = DumpFile.of_text(text).module
    loop = module.instructions.first("w")
    assert loop is not None
    return trip_count(module, loop)


_LESS = "compare(%i, %bound), direction=LT"
_NEXT = "add(%copy, %step)"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([], 10),
        ([(_LESS, "compare(%i, %bound), direction=LE")], 11),
        ([(_LESS, "compare(%bound, %i), direction=GT")], 10),
        ([(_LESS, "compare(%i, %bound), direction=NE")], 10),
        ([(_LESS, "compare(%i, %bound), direction=EQ")], 0),
        ([(_LESS, "compare(%i, %bound), direction=GT")], 0),
        ([(_LESS, "compare(%i, %n), direction=LT")], 7),
        ([("constant(1)", "constant(3)")], 4),
        ([("constant(0)", "constant(4)")], 6),
        ([("%start = s32[] constant(0)", "%start = s32[] constant(20)")], 0),
        (
            [
                ("constant(0)", "constant(9)"),
                (_LESS, "compare(%i, %n), direction=GE"),
                (_NEXT, "subtract(%copy, %step)"),
            ],
            3,
        ),
        ([(_NEXT, "fusion(%step, %copy), kind=kLoop, calls=%add_computation")], 10),
        ([(_NEXT, "call(%step, %copy), to_apply=%add_computation")], 10),
        ([(_LESS, "fusion(%i, %bound), kind=kLoop, calls=%compare_computation")], 10),
        (
            [
                ("s32[]", "u32[]"),
                ("constant(0)", "constant(9)"),
                ("constant(1)", "constant(4294967295)"),
                (_LESS, "compare(%i, %n), direction=GT"),
            ],
            2,
        ),
    ],
)
def test_trip_count_follows_from_the_computations(
    changes: list[tuple[str, str]], expected: int | None
) -> None:
    assert _trip_count(*changes) == expected


@pytest.mark.parametrize(
    "changes",
    [
        [("tuple(%copied", "tuple(%argument")],  # no constant start
        [("constant(1)", "constant(0)")],  # no end
        [("constant(1)", "constant(-1)")],  # overflows
        [(_LESS, "compare(%i, %bound), direction=NE"), ("constant(1)", "constant(3)")],
        [(_LESS, "compare(%i, %n), direction=LT"), ("tuple(%next, %n,", "tuple(%next, %next,")],
        [(_NEXT, "add(%copy, %copy)")],
        [(_NEXT, "multiply(%copy, %step)")],
        [("s32[] constant(10)", "f32[] constant(10)"), ("%i = s32[]", "%i = f32[]")],
        [("ROOT %less = pred[] compare(%i, %bound), direction=LT", "ROOT %less = pred[] junk(")],
        [("%next = s32[] add(%copy, %step)", "%next = s32[] add(%next, %step)")],
    ],
)
def test_uncertain_trip_count_is_unknown(changes: list[tuple[str, str]]) -> None:
    assert _trip_count(*changes) is None


def test_inner_loop_starts_at_a_constant_of_the_outer_one() -> None:
    outer = """\
%outer_body {
  %q = STATE parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  %zero = s32[] get-tuple-element(%q), index=1
  %y = f32[8] get-tuple-element(%q), index=2
  %one = s32[] constant(1)
  %later = s32[] add(%j, %one)
  %u = STATE tuple(%zero, %zero, %y)
  %w = STATE while(%u), condition=%condition, body=%body
  %z = f32[8] get-tuple-element(%w), index=2
  ROOT %v = STATE tuple(%later, %zero, %z)
}

ENTRY %e {""".replace("STATE", _STATE)
    changes = [
        ("ENTRY %e {", outer),
        ("ROOT %w = ", "ROOT %outer = "),
        ("(%t), condition=%condition, body=%body", "(%t), condition=%condition, body=%outer_body"),
    ]
    assert _trip_count(*changes) == 3  # from 7 to 10
    changed = (f"ROOT %v = {_STATE} tuple(%later, %zero", f"ROOT %v = {_STATE} tuple(%later, %j")
    assert _trip_count(*changes, changed) is None


def test_loop_in_a_call_starts_at_its_operand() -> None:
    loop = f"ROOT %w = {_STATE} while(%t), condition=%condition, body=%body"
    called = f"%called {{\n  %t = {_STATE} parameter(0)\n  {loop}\n}}\n\nENTRY %e {{"
    call = f"ROOT %r = {_STATE} call(%t), to_apply=%called"
    assert _trip_count((loop, call), ("ENTRY %e {", called)) == 10


def test_nested_loops_with_long_sums_are_unknown() -> None:
    bodies = "".join(
        f"""%body{depth} {{
  %p = {_STATE} parameter(0)
  %w{depth} = {_STATE} while(%p), condition=%condition, body=%body{depth + 1}
  %zero = s32[] constant(0)
  %s0 = s32[] get-tuple-element(%w{depth}), index=0
{"".join(f"  %s{at + 1} = s32[] add(%s{at}, %zero){chr(10)}" for at in range(50))}\
  %n = s32[] get-tuple-element(%w{depth}), index=1
  %x = f32[8] get-tuple-element(%w{depth}), index=2
  ROOT %t = {_STATE} tuple(%s50, %n, %x)
}}
"""
        for depth in range(8)
    )
    changes = [("body=%body", "body=%body0"), ("%body {", "%body8 {"), ("ENTRY", f"{bodies}ENTRY")]
    assert _trip_count(*changes) is None
