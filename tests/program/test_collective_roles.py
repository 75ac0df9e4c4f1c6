"""Why a collective is in a program."""

import pytest

from hlo_lsp.ide.hover.instructions import instruction_card
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.collective_roles import CollectiveRole, annotations_of, collective_role

_SHARDING = "sharding={mesh['data'=2,'model'=2], [{'data'}, {}]}"
_BEFORE = f"""\
HloModule m, num_partitions=4

ENTRY %e {{
  %w = f32[8,8] parameter(0), {_SHARDING}, metadata={{op_name="p['w']"}}
  %p = f32[8,8] all-reduce(%w), channel_id=1, replica_groups={{}}, metadata={{op_name="norm/psum"}}
  ROOT %d = f32[8,8] dot(%p, %w), metadata={{op_name="jit(f)/dot_general"}}
}}
"""
_AFTER = f"""\
HloModule m, is_scheduled=true, num_partitions=4

%body {{
  %s = (f32[6,8,8], s32[]) parameter(0)
  %m = f32[6,8,8] get-tuple-element(%s), index=0
  %i = s32[] get-tuple-element(%s), index=1
  %slice = f32[1,8,8] dynamic-slice(%m, %i, %i, %i), dynamic_slice_sizes={{1,8,8}}, \
metadata={{op_name="jit(f)/while/body/dynamic_slice"}}
  %looped = f32[1,16,8] all-gather(%slice), dimensions={{1}}, channel_id=8
  ROOT %t = (f32[6,8,8], s32[]) tuple(%m, %i)
}}

%narrow {{
  %o = f32[6,8,8] parameter(0)
  %u = bf16[6,8,8] convert(%o)
  ROOT %r = bf16[6,8,8] transpose(%u), dimensions={{1,0,2}}
}}

%wave {{
  %o.1 = f32[6,8,8] parameter(0)
  ROOT %k = f32[6,8,8] sine(%o.1)
}}

ENTRY %e {{
  %w.1 = f32[4,8] parameter(0), {_SHARDING}, \
metadata={{op_name="p['w']"}}
  %v = f32[6,8,8] parameter(1), metadata={{op_name="p['v']"}}
  %n = s32[] parameter(2)
  %c = bf16[4,8] convert(%w.1)
  %gather = bf16[8,8] all-gather(%c), dimensions={{0}}, channel_id=2
  %asked = f32[4,8] all-reduce(%w.1), channel_id=3, metadata={{op_name="jit(f)/norm/psum" \
source_file="/f.py" source_line=3}}
  %dot.1 = f32[8,8] dot(%gather, %asked), metadata={{op_name="jit(f)/dot_general" \
source_file="/f.py" source_line=5}}
  %sum = f32[8,8] all-reduce(%dot.1), channel_id=4, metadata={{op_name="jit(f)/dot_general" \
source_file="/f.py" source_line=5}}
  %start = (f32[8,8], f32[8,8]) collective-permute-start(%dot.1), channel_id=5, \
metadata={{op_name="jit(f)/sharding_constraint" source_file="/f.py" source_line=7}}
  %done = f32[8,8] collective-permute-done(%start)
  %init = (f32[6,8,8], s32[]) tuple(%v, %n)
  %while = (f32[6,8,8], s32[]) while(%init), condition=%cond, body=%body
  %mover = bf16[6,8,8] fusion(%v), kind=kLoop, calls=%narrow, metadata={{op_name="while"}}
  %turned = bf16[6,16,8] all-gather(%mover), dimensions={{1}}, channel_id=9
  %waves = f32[6,8,8] fusion(%v), kind=kLoop, calls=%wave, metadata={{op_name="jit(f)/sin"}}
  %computed = f32[6,16,8] all-gather(%waves), dimensions={{1}}, channel_id=10
  ROOT %bare = f32[8,8] all-gather(%dot.1), dimensions={{0}}, channel_id=6
}}
"""


def _compile(before: str | None = _BEFORE) -> Compile:
    after = DumpFile.of_text(_AFTER, "m.cpu_after_optimizations.txt")
    others = [DumpFile.of_text(before, "m.before_optimizations.txt")] if before else []
    return Compile([after], others=others)


def _role(name: str, before: str | None = _BEFORE) -> CollectiveRole | None:
    dump = _compile(before)
    line = dump.instruction(name)
    assert line is not None
    return collective_role(dump, line)


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("gather", "argument", "gathers argument p['w'], cut in dim 0 over data"),
        ("looped", "argument", "gathers argument p['v']"),
        ("turned", "argument", "gathers argument p['v']"),
        ("computed", "resharding", "gathers the result of sin"),
        ("asked", "requested", "asked for by f.py:3 psum"),
        ("sum", "reduction", "reduces partial results of f.py:5 dot_general"),
        ("start", "resharding",
         "moves the result of f.py:5 dot_general for f.py:7 sharding_constraint"),
        ("done", "resharding",
         "moves the result of f.py:5 dot_general for f.py:7 sharding_constraint"),
        ("bare", "resharding", "gathers the result of f.py:5 dot_general"),
    ],
)  # fmt: skip
def test_role_follows_from_the_data(name: str, kind: str, text: str) -> None:
    assert _role(name) == CollectiveRole(kind, text)


def test_other_instructions_have_no_role() -> None:
    assert _role("dot.1") is None


def test_without_text_before_optimizations_roles_are_unknown() -> None:
    assert _role("sum", None) is None


def test_hover_has_the_role() -> None:
    after = DumpFile.of_text(_AFTER, "m.cpu_after_optimizations.txt")
    before = DumpFile.of_text(_BEFORE, "m.before_optimizations.txt")
    card = instruction_card(Compile([after], others=[before]), "gather")
    assert card is not None
    found = [fact.text for fact in card.facts if fact.label == "role"]
    assert found == ["gathers argument p['w'], cut in dim 0 over data"]


_CONSTRAINED = _BEFORE.replace(
    "  ROOT %d = f32[8,8] dot(%p, %w), metadata={op_name=",
    f"""\
  %n = f32[8,8] negate(%d)
  ROOT %c = f32[8,8] custom-call(%n), custom_call_target="Sharding", {_SHARDING}
  %d = f32[8,8] dot(%p, %w), metadata={{source_file="/f.py" source_line=5 op_name=""",
)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("gather", ["w"]), ("asked", ["p"]), ("sum", ["w"]), ("start", ["c"]), ("dot.1", [])],
)
def test_annotations_ask_for_collectives(name: str, wanted: list[str]) -> None:
    dump = _compile(_CONSTRAINED)
    line = dump.instruction(name)
    assert line is not None
    assert [one.record.name for one in annotations_of(dump, line)] == wanted


def test_text_before_optimizations_is_needed_for_annotations() -> None:
    dump = _compile(None)
    line = dump.instruction("gather")
    assert line is not None
    assert annotations_of(dump, line) == []
