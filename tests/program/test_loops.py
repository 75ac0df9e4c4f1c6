"""The number of iterations of loops."""

import pytest

from hlo_lsp.program.dataflow import trip_count
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
def test_trip_count_is_that_of_xla(text: str, expected: int | None) -> None:
    instruction = parse_instruction(text)
    assert instruction is not None
    assert trip_count(instruction) == expected
