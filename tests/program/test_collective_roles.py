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

%pick {{
  %all = f32[6,8,8] parameter(0)
  %at = s32[] parameter(1)
  %one = f32[1,8,8] dynamic-slice(%all, %at, %at, %at), dynamic_slice_sizes={{1,8,8}}
  ROOT %flat = f32[8,8] bitcast(%one)
}}

%body {{
  %s = (f32[6,8,8], s32[]) parameter(0)
  %m = f32[6,8,8] get-tuple-element(%s), index=0
  %i = s32[] get-tuple-element(%s), index=1
  %slice = f32[1,8,8] dynamic-slice(%m, %i, %i, %i), dynamic_slice_sizes={{1,8,8}}, \
metadata={{op_name="jit(f)/while/body/dynamic_slice"}}
  %row = f32[8,8] fusion(%m, %i), kind=kLoop, calls=%pick, \
metadata={{op_name="jit(f)/while/body/jit(dynamic_index_in_dim)/squeeze" \
source_file="/f.py" source_line=9}}
  %squeezed = f32[16,8] all-gather(%row), dimensions={{0}}, channel_id=8
  %looped = f32[1,16,8] all-gather(%slice), dimensions={{1}}, channel_id=8
  ROOT %t = (f32[6,8,8], s32[]) tuple(%m, %i)
}}

%narrow {{
  %o = f32[6,8,8] parameter(0)
  %u = bf16[6,8,8] convert(%o)
  ROOT %r = bf16[6,8,8] transpose(%u), dimensions={{1,0,2}}
}}

%halo {{
  %o.2 = f32[6,8,8] parameter(0)
  ROOT %edge = f32[6,1,8] slice(%o.2), slice={{[0:6], [0:1], [0:8]}}
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
  %border = f32[6,1,8] fusion(%v), kind=kLoop, calls=%halo, metadata={{op_name="jit(f)/conv" \
source_file="/f.py" source_line=9}}
  %sent = f32[6,1,8] collective-permute(%border), channel_id=11, source_target_pairs={{{{0,1}}}}
  %waves = f32[6,8,8] fusion(%v), kind=kLoop, calls=%wave, metadata={{op_name="jit(f)/sin"}}
  %computed = f32[6,16,8] all-gather(%waves), dimensions={{1}}, channel_id=10
  ROOT %bare = f32[8,8] all-gather(%dot.1), dimensions={{0}}, channel_id=6
}}
"""


_PARTS = """\
HloModule m, is_scheduled=true, num_partitions=4

%gather (a: f32[4,8]) -> f32[8,8] {
  %a = f32[4,8] parameter(0)
  ROOT %ag = f32[8,8] all-gather(%a), dimensions={0}, channel_id=1, \
frontend_attributes={chain_id="0"}
}

%rest (b: f32[8,8]) -> f32[8,8] {
  %b = f32[8,8] parameter(0)
  %ag.1 = f32[8,8] all-gather(%b), dimensions={0}, channel_id=1, \
frontend_attributes={chain_id="0"}
  ROOT %n = f32[8,8] negate(%ag.1)
}

%scatter (c: f32[8,8]) -> f32[4,8] {
  %c = f32[8,8] parameter(0)
  %sum = f32[8,8] all-reduce(%c), channel_id=2, replica_groups={{0,1},{2,3}}
  ROOT %s = f32[4,8] slice(%sum), slice={[0:4], [0:8]}
}

%scatter.1 (d: f32[8,8]) -> f32[4,8] {
  %d = f32[8,8] parameter(0)
  %sum.1 = f32[8,8] all-reduce(%d), channel_id=2, replica_groups={{0,1},{2,3}}
  ROOT %s.1 = f32[4,8] slice(%sum.1), slice={[0:4], [0:8]}
}

ENTRY %e {
  %w = f32[4,8] parameter(0), metadata={op_name="p['w']"}
  %x = f32[8,8] parameter(1), metadata={op_name="x"}
  %first = f32[8,8] fusion(%w), kind=kCustom, calls=%gather
  %last = f32[8,8] fusion(%first), kind=kCustom, calls=%rest, metadata={op_name="jit(f)/dot"}
  %sums = f32[4,8] fusion(%last), kind=kCustom, calls=%scatter, metadata={op_name="jit(f)/dot"}
  %asked = f32[4,8] fusion(%x), kind=kCustom, calls=%scatter.1, metadata={op_name="jit(f)/psum"}
  %y = f32[8,8] sine(%x), metadata={op_name="jit(f)/sin"}
  %z = f32[8,8] cosine(%x), metadata={op_name="jit(f)/cos"}
  %both = (f32[8,8], f32[8,8]) all-reduce(%y, %z), channel_id=3, replica_groups={}
  %mixed = (f32[8,8], f32[8,8]) all-reduce(%y, %last), channel_id=4, replica_groups={}
  ROOT %t = (f32[4,8], f32[4,8]) tuple(%sums, %asked)
}
"""
_REQUESTS = """\
HloModule m, num_partitions=4

ENTRY %e {
  %x = f32[8,8] parameter(0), metadata={op_name="x"}
  %psum = f32[8,8] all-reduce(%x), replica_groups={}, channel_id=1, metadata={op_name="psum"}
  %sin = f32[8,8] sine(%x), metadata={op_name="sin"}
  %cos = f32[8,8] cosine(%x), metadata={op_name="cos"}
  %max = f32[8,8] all-reduce(%sin), replica_groups={}, channel_id=2, metadata={op_name="pmax"}
  %min = f32[8,8] all-reduce(%cos), replica_groups={}, channel_id=3, metadata={op_name="pmin"}
  ROOT %t = (f32[8,8], f32[8,8], f32[8,8]) tuple(%psum, %max, %min)
}
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("last", "gathers argument p['w']"),
        ("sums", "reduces partial results of dot"),
        ("asked", "asked for by psum"),
        ("both", "asked for by pmax, pmin"),
        ("mixed", "reduces partial results of sin, dot"),
    ],
)
def test_role_of_joined_and_divided_collectives(name: str, text: str) -> None:
    after = DumpFile.of_text(_PARTS, "m.cpu_after_optimizations.txt")
    before = DumpFile.of_text(_REQUESTS, "m.before_optimizations.txt")
    dump = Compile([after], others=[before])
    line = dump.instruction(name)
    assert line is not None
    role = collective_role(dump, line)
    assert role is not None
    assert role.text == text


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
        ("squeezed", "argument", "gathers argument p['v']"),
        ("turned", "argument", "gathers argument p['v']"),
        ("sent", "argument", "moves argument p['v']"),
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


def test_collective_of_another_line_does_not_ask() -> None:
    metadata = 'metadata={op_name="norm/psum" source_file="/f.py" source_line='
    other = f"  %q = f32[8,8] all-reduce(%w), channel_id=2, replica_groups={{}}, {metadata}4}}\n"
    same = _BEFORE.replace('metadata={op_name="norm/psum"', f"{metadata}3")
    dump = _compile(same.replace("  ROOT", f"{other}  ROOT"))
    line = dump.instruction("asked")
    assert line is not None
    assert [one.record.name for one in annotations_of(dump, line)] == ["p"]


def test_text_before_optimizations_is_needed_for_annotations() -> None:
    dump = _compile(None)
    line = dump.instruction("gather")
    assert line is not None
    assert annotations_of(dump, line) == []
