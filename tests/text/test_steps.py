import pytest

from hlo_lsp.text.steps import Steps, finish


def _count(steps: int, log: list[int]) -> Steps[str]:
    for step in range(steps):
        log.append(step)
        yield
    return f"{steps} steps"


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_all_steps_are_taken_and_the_result_returned(steps: int) -> None:
    log: list[int] = []
    assert finish(_count(steps, log)) == f"{steps} steps"
    assert log == list(range(steps))


def test_steps_that_somebody_began_are_not_taken_again() -> None:
    log: list[int] = []
    steps = _count(3, log)
    next(steps)
    assert finish(steps) == "3 steps"
    assert log == [0, 1, 2]


def test_an_error_in_a_step_comes_out() -> None:
    def failing() -> Steps[None]:
        yield
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        finish(failing())
