"""Tests for budgets in ``hlo-lsp.toml``."""

import pytest

from hlo_lsp.checks.framework.options import Budget, CheckOptions


@pytest.mark.parametrize(
    ("size", "count"),
    [(0, 0), ("12 GiB", 12 << 30), ("1.5 KiB", 1536), ("7B", 7), (" 2  MiB ", 2 << 20)],
)
def test_sizes(size: object, count: int) -> None:
    budget, errors = Budget.of({"constant": size})
    assert errors == []
    assert budget is not None
    assert budget.constant == count


@pytest.mark.parametrize(
    ("table", "key", "message"),
    [
        ({"peek": {}}, "peek", "unknown key `peek`; did you mean `peak`?"),
        ({"peak": [3]}, "peak", "must be a size, or one for each memory space"),
        ({"peak": {"HBM": "12 GB"}}, "peak", "must be a number of bytes"),
        ({"constant": -1}, "constant", "must be a number of bytes"),
        ({"constant": True}, "constant", "must be a number of bytes"),
        ({"padding": 2}, "padding", "must be a number from 0 to 1"),
        ({"peak": {"HBN": 1}}, "peak", "unknown memory space `HBN`; did you mean `HBM`?"),
        (
            {"forbidden": ["all-to-al"]},
            "forbidden",
            "unknown opcode `all-to-al`; did you mean `all-to-all`?",
        ),
        ({"forbidden": "copy"}, "forbidden", "must be a list of strings"),
        ({"module": 1}, "module", "must be a string"),
        ({"flops": "3 TFLOPS"}, "flops", "must be a number of FLOPs"),
        ({"flops": -1}, "flops", "must be a number of FLOPs"),
        ({"least_time": "3 min"}, "least_time", "must be a number of seconds"),
        ({"least_time": float("nan")}, "least_time", "must be a number of seconds"),
    ],
)
def test_errors_name_the_key(table: dict[str, object], key: str, message: str) -> None:
    budget, [(found, text)] = Budget.of(table)
    assert (budget, found) == (Budget(), key)
    assert text.startswith(message)


@pytest.mark.parametrize("value", [{}, "x", 3, [3]])
def test_budget_must_be_a_list_of_tables(value: object) -> None:
    options, errors = CheckOptions.of({"budget": value})
    assert options.budget == ()
    assert [error.keys[0] for error in errors] == ["budget"]


def test_pattern_selects_modules() -> None:
    budget = Budget(module="jit_step*")
    assert budget.applies_to("jit_step_1")
    assert not budget.applies_to("jit_eval")


@pytest.mark.parametrize(
    ("table", "budget"),
    [
        ({"flops": "1.5 GFLOP"}, Budget(flops=1_500_000_000)),
        ({"flops": 4e11}, Budget(flops=400_000_000_000)),
        ({"bytes": "1 GiB"}, Budget(bytes=1 << 30)),
        ({"least_time": "250 us"}, Budget(least_time=250_000_000)),
        ({"least_time": 0.5}, Budget(least_time=500_000_000_000)),
    ],
)
def test_limits_of_cost(table: dict[str, object], budget: Budget) -> None:
    assert Budget.of(table) == (budget, [])


@pytest.mark.parametrize("value", ["v1", 5, ["v5e"]])
def test_chip_must_be_known(value: object) -> None:
    options, [error] = CheckOptions.of({"chip": value})
    assert options.chip is None
    assert error.keys == ("chip",)
    assert error.message.startswith("must be one of v2, v3, v4, v5e, ")
