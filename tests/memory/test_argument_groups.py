"""Arguments grouped by the first levels of their pytrees."""

import pytest

from hlo_lsp.memory.group_tree import argument_groups
from hlo_lsp.memory.grouping import owned_buffers
from hlo_lsp.memory.live_set import live_buffers
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile


def _groups(*arguments: tuple[str, int]) -> list[tuple[str, int]]:
    """Return the groups of arguments with these names and numbers of bytes."""
    module = "HloModule jit_f, is_scheduled=true\n\nENTRY %main () -> f32[] {\n"
    assignment = "BufferAssignment:\n"
    for number, (name, size) in enumerate(arguments):
        escaped = name.replace("'", "\\'")
        shape = f"s8[{size}]{{0}}"
        module += f'  %x.{number} = {shape} parameter({number}), metadata={{op_name="{escaped}"}}\n'
        assignment += (
            f"allocation {number}: size {size}, parameter {number}, shape |s8[{size}]| at "
            f"ShapeIndex {{}}:\n value: <{number} x.{number} @0> (size={size},offset=0): {shape}\n"
        )
    module += "  ROOT %r = f32[] constant(0)\n}\n"
    dump = Compile([DumpFile.of_text(module), DumpFile.of_text(assignment)])
    found = argument_groups(dump, owned_buffers(dump, live_buffers(dump, 0, 0)))
    return [(one.name, one.bytes) for one in found]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([("p['a']", 4), ("p['b']", 3), ("x", 2)], [("p", 7), ("x", 2)]),
        (
            [("s.params['a']", 400), ("s.opt[0].mu['a']", 300), ("x", 2)],
            [("s.params", 400), ("s.opt", 300), ("x", 2)],
        ),
        ([("p[0]", 400), ("p[1]", 400), ("x", 2)], [("p", 800), ("x", 2)]),
        ([("x", 4)], [("x", 4)]),
    ],
    ids=["arguments", "parts of a state", "list of layers", "one array"],
)
def test_arguments_are_grouped_by_first_levels(
    arguments: list[tuple[str, int]], expected: list[tuple[str, int]]
) -> None:
    assert _groups(*arguments) == expected
