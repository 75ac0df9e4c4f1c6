"""The columns of the name of a record."""

import pytest

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import name_columns


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        ("ENTRY %E (p: f32[]) -> f32[] {", (7, 8)), ("region_0.10 {", (0, 11)),
        ("ENTRY main.16 {", (6, 13)), ("  ROOT %T = f32[] copy(%a)", (8, 9)),
        ("  %a.1 = f32[] copy(%a)", (3, 6)), ("    0:a", (6, 7)), ("    max{1}:0-5", (4, 10)),
        ("    n{}: 8 bytes (cumulative: 8 bytes)", (4, 7)),
        (" value: <1 value{0} @0> (size=4,offset=0): f32[]", (8, 23)),
        ("allocation 1: size 512, constant:", (0, 33)),
    ],
)  # fmt: skip
def test_name_columns(line: str, columns: tuple[int, int]) -> None:
    head = "HloModule m\n" if "%" in line or line.endswith("{") else "HloLiveRange (max 9):\n"
    record = DumpFile.of_text(head + line).records.at(1)
    assert record is not None
    assert name_columns(record, line) == columns
