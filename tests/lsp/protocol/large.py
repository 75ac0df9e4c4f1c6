"""A module text that takes a while to be read."""

from itertools import pairwise


def large_module(count: int) -> str:
    """Return a module of two computations, in which each instruction uses the previous one."""
    half = count // 2
    lines = ["HloModule large, is_scheduled=true", ""]
    lines += ["%called (p: f32[8]) -> f32[8] {", "  %p = f32[8]{0} parameter(0)"]
    lines += _chain("c", "p", half)
    lines += ["}", "", "ENTRY %main (a: f32[8]) -> f32[8] {", "  %a = f32[8]{0} parameter(0)"]
    lines += _chain("e", "a", half)
    lines[-1] = f"  ROOT %call = f32[8]{{0}} call(%e.{half - 2}), to_apply=%called"
    return "\n".join([*lines, "}", ""])


def _chain(letter: str, first: str, count: int) -> list[str]:
    names = [first, *(f"{letter}.{number}" for number in range(count))]
    metadata = 'metadata={op_name="jit(f)/add" source_file="/x/train.py" source_line=7}'
    lines = [
        f"  %{name} = f32[8]{{0}} add(%{before}, %{first}), {metadata}"
        for before, name in pairwise(names)
    ]
    lines[-1] = lines[-1].replace("  %", "  ROOT %", 1)
    return lines
