"""Tests for the rules on budgets."""

import re
from typing import Any

import pytest

from checks.advised import advice
from hlo_lsp.checks.catalogue import CATALOGUE
from hlo_lsp.checks.framework.options import Budget, Limits
from hlo_lsp.checks.run import check
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from reports.example import ASSIGNMENT, MODULE, RANGES

_CONSTANT = (
    ASSIGNMENT
    + "allocation 3: size 512, constant:\n value: <6 k @0> (size=512,offset=0): f32[128]{0}\n"
)
_PADDED = ASSIGNMENT.replace(
    "(size=2048,offset=0): f32[512]{0}", "(size=2048,offset=0): f32[2]{0:T(512)}"
)


def _messages(code: str, *texts: str, chip: Any = None, **budget: Any) -> list[str]:
    found = advice(code, *texts, budgets=(Budget(**budget),), chip=chip)
    return [message for _, _, message in found]


@pytest.mark.parametrize(
    ("code", "budget", "message"),
    [
        (
            "budget-peak",
            {"peak": (("hbm", 5000),)},
            "the peak of HBM is 5,120 B (5.0 KiB) at step 2, 120 B above the budget of 4.9 KiB",
        ),
        (
            "budget-total",
            {"total": (("HBM", 4096),)},
            "5,120 B (5.0 KiB) of HBM are allocated, 1.0 KiB above the budget of 4.0 KiB",
        ),
        (
            "budget-opcode",
            {"forbidden": ("add", "sine")},
            "the budget forbids `add`, and the module has 1",
        ),
        (
            "budget-donation",
            {"donated": ("p",)},
            "`p['w']` is not donated, but the budget requires it",
        ),
        (
            "budget-flops",
            {"flops": 200},
            "one run takes 256 FLOP, 56 FLOP above the budget of 200 FLOP",
        ),
        (
            "budget-bytes",
            {"bytes": 10 << 10},
            "one run accesses 36,864 B (36.0 KiB) outside of on-chip memory, "
            "26.0 KiB above the budget of 10.0 KiB",
        ),
        (
            "budget-least-time",
            {"least_time": 10_000, "chip": "v5e"},
            "the least times of the instructions of one run are 45.0 ns on TPU v5e, "
            "35.0 ns above the budget of 10.0 ns",
        ),
        (
            "budget-least-time",
            {"least_time": 10_000},
            "the least time has a budget, but the chip is unknown: set `chip`",
        ),
    ],
)
def test_violation_is_reported(code: str, budget: dict[str, Any], message: str) -> None:
    assert message in _messages(code, ASSIGNMENT, RANGES, MODULE, **budget)


@pytest.mark.parametrize(
    ("code", "budget"),
    [
        ("budget-peak", {"peak": (("HBM", 5120),)}),
        ("budget-peak", {"peak": (("", 5120),)}),
        ("budget-total", {"total": (("HBM", 5120), ("VMEM", 0))}),
        ("budget-padding", {"padding": 0.0}),
        ("budget-constant", {"constant": 0}),
        ("budget-opcode", {"forbidden": ("all-gather",)}),
        ("budget-donation", {"donated": ("q",)}),
        ("budget-flops", {"flops": 256}),
        ("budget-bytes", {"bytes": 1 << 20}),
        ("budget-least-time", {"least_time": 1e6, "chip": "v5e"}),
    ],
)
def test_satisfied_budget_reports_nothing(code: str, budget: dict[str, Any]) -> None:
    assert _messages(code, ASSIGNMENT, RANGES, MODULE, **budget) == []


_UNKNOWN = MODULE.replace("sine(%x)", 'custom-call(%x), custom_call_target="f"')
_CUT = MODULE[: MODULE.index("  ROOT")]


@pytest.mark.parametrize(
    ("code", "budget", "amount"),
    [
        ("budget-flops", {"flops": 1000}, "one run takes at least 256 FLOP, so whether it is "),
        ("budget-bytes", {"bytes": 1 << 20}, "one run accesses at least "),
        (
            "budget-least-time",
            {"least_time": 1e6, "chip": "v5e"},
            "the least times of the instructions of one run are at least ",
        ),
    ],
)
def test_lower_bound_does_not_satisfy_budget(
    code: str, budget: dict[str, Any], amount: str
) -> None:
    (found,) = _messages(code, ASSIGNMENT, RANGES, _UNKNOWN, **budget)
    assert found.startswith(amount)
    assert found.endswith("is unknown: 1 custom call of unknown cost: f (1)")


def test_budget_of_text_before_optimizations_is_not_checked() -> None:
    file = DumpFile.of_text(MODULE, "module_0001.jit_f.before_optimizations.txt")
    rules = [rule for rule in CATALOGUE if rule.code == "budget-least-time"]
    limits = Limits(budgets=(Budget(least_time=1_000_000),), chip="v5e")
    (found,) = check(Compile([file]), file, rules, limits)
    assert found.message == (
        "the budget for the least time is not checked: "
        "this text is from before the end of the optimizations"
    )
    optimized = DumpFile.of_text(MODULE, "module_0001.jit_f.cl_1.after_optimizations.txt")
    assert check(Compile([file], others=[optimized]), file, rules, limits) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (_CUT, "one run takes at least 0 FLOP, so whether it is within the budget of 1 kFLOP"),
        (MODULE[: MODULE.index("ENTRY")], "the budget for FLOPs is not checked: "),
    ],
    ids=["cut in the entry computation", "cut before the entry computation"],
)
def test_part_of_program_does_not_satisfy_budget(text: str, message: str) -> None:
    (found,) = _messages("budget-flops", text, flops=1000)
    assert found.startswith(message)


def test_excess_of_lower_bound_is_reported() -> None:
    (found,) = _messages("budget-flops", _UNKNOWN, flops=200)
    assert found == "one run takes at least 256 FLOP, 56 FLOP above the budget of 200 FLOP"


def test_budget_of_another_module_is_ignored() -> None:
    assert _messages("budget-total", ASSIGNMENT, MODULE, module="jit_g", total=(("HBM", 0),)) == []


def test_large_constant_is_reported() -> None:
    (message,) = _messages("budget-constant", _CONSTANT, MODULE, constant=100)
    assert message == "the constant takes 512 B, 412 B above the budget of 100 B"


def test_padding_is_reported() -> None:
    (message,) = _messages("budget-padding", _PADDED, RANGES, MODULE, padding=0.1)
    assert message.endswith("are padding: 39.8%, above the budget of 10.0%")


def test_donated_argument_is_accepted() -> None:
    alias = "is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }"
    module = MODULE.replace("is_scheduled=true", alias)
    assert _messages("budget-donation", module, donated=("p",)) == []


def test_prefix_without_argument_is_reported() -> None:
    found = _messages("budget-donation", MODULE, module="jit_f", donated=("params",))
    assert found == [
        "no argument begins with `params`, which the budget requires to be donated: "
        "the arguments are `p`"
    ]
    unnamed = re.sub(r'op_name="[^"]*" ?', "", MODULE)
    (message,) = _messages("budget-donation", unnamed, module="jit_f", donated=("params",))
    assert message.endswith(": the dump has no names of arguments")


def test_pattern_may_match_modules_without_the_argument() -> None:
    assert _messages("budget-donation", MODULE, module="jit_*", donated=("params",)) == []


def test_elements_of_one_tuple_are_arguments() -> None:
    parameter = '  %{} = f32[4]{{0}} parameter({}), metadata={{op_name="{}"}}\n'
    module = "HloModule jit_f, is_scheduled=true, input_output_alias={ {}: (0, {0}) }\n\n"
    tupled = (
        f"{module}ENTRY %main (t: (f32[4], f32[4])) -> f32[4] {{\n"
        "  %t = (f32[4]{0}, f32[4]{0}) parameter(0)\n"
        "  ROOT %r = f32[4]{0} get-tuple-element(%t), index=0\n}\n"
    )
    original = (
        "HloModule jit_f\n\nENTRY %main (a: f32[4], b: f32[4]) -> f32[4] {\n"
        f"{parameter.format('a', 0, 'p.a')}  ROOT{parameter.format('b', 1, 'p.b')[1:]}}}\n"
    )
    stem = "module_0001.jit_f"
    file = DumpFile.of_text(tupled, f"{stem}.after_optimizations.txt")
    other = DumpFile.of_text(original, f"{stem}.before_optimizations.txt")
    rules = [rule for rule in CATALOGUE if rule.code == "budget-donation"]
    limits = Limits(budgets=(Budget(donated=("p.",)),))
    (found,) = check(Compile([file], others=[other]), file, rules, limits)
    assert found.message == "`p.b` is not donated, but the budget requires it"


@pytest.mark.parametrize(("role", "count"), [("", 1), ("_after_buffer_assignment", 0)])
def test_second_text_of_a_module_is_left_out(role: str, count: int) -> None:
    file = DumpFile.of_text(MODULE, f"module_0001.jit_f.cl_12.after_optimizations{role}.txt")
    rules = [rule for rule in CATALOGUE if rule.code == "budget-opcode"]
    limits = Limits(budgets=(Budget(forbidden=("add",)),))
    for others in ([], [DumpFile.of_text(ASSIGNMENT)]):
        assert len(check(Compile([file, *others]), file, rules, limits)) == count


def test_padding_of_small_memory_on_chip_is_ignored() -> None:
    on_chip = _PADDED.replace("preallocated-temp", "color 4, preallocated-temp")
    assert _messages("budget-padding", on_chip, RANGES, MODULE, padding=0.1) == []
