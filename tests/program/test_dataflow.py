"""Dataflow between computations."""

import pytest

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.program.dataflow import ModuleFlow
from hlo_lsp.syntax.module_records import InstructionLine
from marked_program import program

MODULE = program().dump.files[0].module


def _instruction(module: ModuleIndex, name: str, computation: str = "") -> InstructionLine:
    """Return the instruction with a name, in a computation if given."""
    found = [
        record
        for record in module.instructions.all(name)
        if not computation or module.computation_of(record) is module.named(computation)
    ]
    assert len(found) == 1, name
    return found[0]


def _arguments(module: ModuleIndex, name: str, computation: str = "") -> list[str]:
    parameter = _instruction(module, name, computation)
    pairs = ModuleFlow(module).arguments(parameter)
    return [f"{operand.name} of {caller.name}" for caller, operand in pairs]


def _parameters(module: ModuleIndex, caller: str, place: int) -> list[str]:
    found = ModuleFlow(module).parameters(_instruction(module, caller), place)
    homes = [module.computation_of(parameter) for parameter in found]
    return [f"{p.name} of {home.name}" for p, home in zip(found, homes, strict=True) if home]


def _element_sources(module: ModuleIndex, name: str, number: int) -> list[str]:
    found = ModuleFlow(module).producers(_instruction(module, name), (number,))
    return [source.name for source in found]


def _module(text: str) -> ModuleIndex:
    return DumpFile.of_text(f"HloModule m\n\n{text}").module


@pytest.mark.parametrize(
    ("name", "computation", "operands"),
    [
        ("param", "fused", ["call of fusion"]),
        ("param.1", "fused", ["v of fusion"]),
        ("c.1", "called", ["n of call"]),
        ("l", "later", ["first of start"]),
        ("a", "yes", ["first of choice"]),
        ("a", "no", ["second of choice"]),
        ("state", "body", ["init of loop", "turned of loop"]),
        ("cond.state", "cond", ["init of loop", "turned of loop"]),
        ("x", "sum", []),  # a reduce applies it to elements
        ("v", "main", []),  # nobody calls the entry
        ("product", "fused", []),  # no parameter
    ],
)
def test_parameter_receives_operands(name: str, computation: str, operands: list[str]) -> None:
    assert _arguments(MODULE, name, computation) == operands


@pytest.mark.parametrize(
    ("caller", "place", "parameters"),
    [
        ("fusion", 0, ["param of fused"]),
        ("fusion", 1, ["param.1 of fused"]),
        ("fusion", 2, []),
        ("call", 1, ["c.1 of called"]),
        ("start", 0, ["l of later"]),
        ("choice", 0, []),
        ("choice", 1, ["a of yes"]),
        ("choice", 2, ["a of no"]),
        ("loop", 0, ["cond.state of cond", "state of body"]),
        ("total", 0, []),
        ("total", 1, []),
        ("result", 0, []),
    ],
)
def test_operand_is_passed_to_parameters(caller: str, place: int, parameters: list[str]) -> None:
    assert _parameters(MODULE, caller, place) == parameters


@pytest.mark.parametrize(
    ("caller", "roots"),
    [
        ("fusion", ["pair"]),
        ("loop", ["turned"]),
        ("choice", ["r", "r"]),
        ("start", ["sine"]),
        ("total", ["s"]),  # applied to elements
        ("done", []),
    ],
)
def test_call_result_is_callee_root(caller: str, roots: list[str]) -> None:
    assert [root.name for root in ModuleFlow(MODULE).roots(_instruction(MODULE, caller))] == roots


@pytest.mark.parametrize(
    ("name", "number", "sources"),
    [
        ("fusion", 0, ["product"]),
        ("fusion", 1, ["v"]),  # through the parameter that the root hands back
        ("loop", 0, ["next"]),
        ("loop", 1, ["doubled"]),
        ("init", 0, ["n"]),
        ("init", 1, ["product"]),
        ("state", 0, ["n", "next"]),
        ("state", 1, ["product", "doubled"]),
        ("result", 2, ["choice"]),
        ("v", 0, ["v"]),  # no tuple
    ],
)
def test_element_source_is_computing_instruction(
    name: str, number: int, sources: list[str]
) -> None:
    assert _element_sources(MODULE, name, number) == sources


def test_loop_invariant_element_keeps_its_source() -> None:
    module = _module("""\
%c (sc: (s32[], f32[])) -> pred[] {
  %sc = (s32[], f32[]) parameter(0)
  ROOT %t = pred[] constant(true)
}

%b (s: (s32[], f32[])) -> (s32[], f32[]) {
  %s = (s32[], f32[]) parameter(0)
  %same = f32[] get-tuple-element(%s), index=1
  %i = s32[] constant(1)
  ROOT %again = (s32[], f32[]) tuple(%i, %same)
}

ENTRY %e (p: s32[], q: f32[]) -> (s32[], f32[]) {
  %p = s32[] parameter(0)
  %q = f32[] parameter(1)
  %before = (s32[], f32[]) tuple(%p, %q)
  ROOT %w = (s32[], f32[]) while(%before), condition=%c, body=%b
}
""")
    assert _element_sources(module, "w", 1) == ["q"]
    assert _element_sources(module, "s", 1) == ["q"]


def test_branches_merge() -> None:
    module = _module("""\
%one (x: f32[]) -> (f32[]) {
  %x = f32[] parameter(0)
  %n = f32[] negate(%x)
  ROOT %t = (f32[]) tuple(%n)
}

%two (y: f32[]) -> (f32[]) {
  %y = f32[] parameter(0)
  ROOT %u = (f32[]) tuple(%y)
}

ENTRY %e (i: s32[], p: f32[], q: f32[]) -> (f32[]) {
  %i = s32[] parameter(0)
  %p = f32[] parameter(1)
  %q = f32[] parameter(2)
  ROOT %k = (f32[]) conditional(%i, %p, %q, %q), branch_computations={%one, %two, %two}
}
""")
    assert _element_sources(module, "k", 0) == ["n", "q"]
    assert _arguments(module, "x") == ["p of k"]


def test_repeated_branch_receives_both_operands() -> None:
    module = _module("""\
%two (y: f32[]) -> f32[] {
  ROOT %y = f32[] parameter(0)
}

ENTRY %e (i: s32[], p: f32[], q: f32[]) -> f32[] {
  %i = s32[] parameter(0)
  %p = f32[] parameter(1)
  %q = f32[] parameter(2)
  ROOT %k = f32[] conditional(%i, %p, %q), branch_computations={%two, %two}
}
""")
    assert _arguments(module, "y") == ["p of k", "q of k"]
    assert _parameters(module, "k", 1) == _parameters(module, "k", 2) == ["y of two"]


def test_inline_branches_and_bodies() -> None:
    module = _module("""\
ENTRY %e {
  %p = pred[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %k = f32[] conditional(%p, %q, %q), true_computation={
    ROOT %t = f32[] parameter(0)
  }, false_computation={
    %f = f32[] parameter(0)
    ROOT %g = f32[] negate(%f)
  }
}
""")
    assert _arguments(module, "t") == ["q of k"]
    assert _arguments(module, "f") == ["q of k"]
    assert [root.name for root in ModuleFlow(module).roots(_instruction(module, "k"))] == ["t", "g"]


@pytest.mark.parametrize(
    "text",
    [
        "%a (p: (f32[])) -> (f32[]) {\n  %p = (f32[]) parameter(0)\n"
        "  ROOT %c = (f32[]) call(%p), to_apply=%a\n}",
        "ENTRY %e {\n  %c = (f32[]) tuple(%d)\n  %d = f32[] get-tuple-element(%c), index=0\n}",
        "ENTRY %e {\n  %c = (f32[]) copy(%c)\n}",
        "%b {\n  %s = (f32[]) parameter(0)\n"
        "  ROOT %c = (f32[]) while(%s), condition=%b, body=%b\n}",
    ],
)
def test_cyclic_dataflow_terminates(text: str) -> None:
    module = _module(text)
    for name in ("c", "p", "d", "s"):
        for record in module.instructions.all(name):
            ModuleFlow(module).producers(record, (0,))
            list(ModuleFlow(module).arguments(record))


def test_long_chain_terminates() -> None:
    lines = ["  %c.0 = (f32[]) tuple(%x)"]
    lines += [f"  %c.{n} = (f32[]) copy(%c.{n - 1})" for n in range(1, 3000)]
    module = _module("ENTRY %e {\n  %x = f32[] parameter(0)\n" + "\n".join(lines) + "\n}")
    ModuleFlow(module).producers(_instruction(module, "c.2999"), (0,))
    assert _element_sources(module, "c.99", 0) == ["x"]


_STEPS = """\
%work (k: f32[], l: f32[], m: f32[]) -> (f32[], f32[]) {
  %k = f32[] parameter(0)
  %l = f32[] parameter(1)
  %m = f32[] parameter(2)
  %s = f32[] add(%k, %l)
  ROOT %r = (f32[], f32[]) tuple(%s, %m)
}

ENTRY %e (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  %n = f32[] negate(%q)
  %a = ((f32[]), (f32[], f32[]), u32[]) async-start(%p), calls=%work
  %u = ((f32[], f32[], f32[]), (f32[], f32[]), u32[]) async-update(%a, %q, %n)
  %d = (f32[], f32[]) async-done(%u)
  ROOT %g = f32[] get-tuple-element(%d), index=1
}
"""


def test_update_passes_remaining_operands() -> None:
    module = _module(_STEPS)
    assert [_arguments(module, name) for name in "klm"] == [["p of a"], ["q of u"], ["n of u"]]
    assert _parameters(module, "a", 0) == ["k of work"]
    assert [_parameters(module, "u", place) for place in range(4)] == [
        [], ["l of work"], ["m of work"], []
    ]  # fmt: skip


def test_element_source_inside_async_computation() -> None:
    module = _module(_STEPS)
    assert _element_sources(module, "d", 0) == ["s"]
    assert _element_sources(module, "d", 1) == ["n"]


def test_update_without_start_passes_nothing() -> None:
    module = _module(_STEPS.replace("async-update(%a", "async-update(%lost"))
    assert _parameters(module, "u", 1) == []
    assert _element_sources(module, "d", 0) == ["u"]


_FILE = DumpFile.of_text("""\
HloModule m

ENTRY %e (p: f32[8], t: token[]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %t = token[] parameter(1)
  %s = ((), f32[8]{0}, u32[]) async-start(), calls=%w
  %u = ((f32[8]{0}), f32[8]{0}, u32[]) async-update(%s, %p)
  %d = f32[8]{0} async-done(%u)
  %out = (f32[8]{0}, u32[], token[]) send(%p, %t), channel_id=1
  %sent = token[] send-done(%out), channel_id=1
  %round = f32[8]{0} async-update(%round)
  %lost = f32[8]{0} async-done(%nobody)
  %other = f32[8]{0} async-update(%p, %s)
}
""")
_FLOW = ModuleFlow(_FILE.module)


def _instruction_named(name: str) -> InstructionLine:
    (found,) = _FILE.module.instructions.all(name)
    return found


def _names(start: str) -> list[str]:
    return [step.name for step in _FLOW.async_successors(_instruction_named(start))]


def test_async_successors_are_in_order() -> None:
    assert _names("s") == ["u", "d"]
    assert _names("u") == ["d"]
    assert _names("out") == ["sent"]
    assert _names("d") == []


def test_async_step_resolves_its_start() -> None:
    for step in "ud":
        assert _FLOW.async_start(_instruction_named(step)) is _instruction_named("s")
    for step in ("s", "p", "lost", "round", "other"):
        assert _FLOW.async_start(_instruction_named(step)) is None


def test_update_operands_belong_to_start() -> None:
    update = _instruction_named("u")
    assert _FLOW.passed_operands(_instruction_named("s")) == [(update, 1)]
    assert _FLOW.passed_operands(update) == [(update, 0), (update, 1)]
