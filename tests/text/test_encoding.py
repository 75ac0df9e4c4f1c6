import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.text.document import Encoding

_LINES = st.text(
    st.one_of(st.sampled_from("a<>│├×é𝔸\u2028"), st.characters(categories=["L", "N", "So"])),
    max_size=12,
)


def _width(encoding: Encoding, sign: str) -> int:
    if encoding is Encoding.UTF8:
        return sum(ord(sign) > last for last in (-1, 0x7F, 0x7FF, 0xFFFF))
    return 2 if encoding is Encoding.UTF16 and ord(sign) > 0xFFFF else 1


@pytest.mark.parametrize(
    ("encoding", "units"),
    [
        (Encoding.UTF8, [0, 3, 4, 8, 9, 11]),
        (Encoding.UTF16, [0, 1, 2, 4, 5, 6]),
        (Encoding.UTF32, [0, 1, 2, 3, 4, 5]),
    ],
)
def test_columns_of_box_characters_and_surrogate_pairs(
    encoding: Encoding, units: list[int]
) -> None:
    line = "│a𝔸b×"
    assert [encoding.units(line, column) for column in range(6)] == units
    assert [encoding.column(line, unit) for unit in units] == [0, 1, 2, 3, 4, 5]


def test_middle_of_a_character_means_its_start() -> None:
    assert [Encoding.UTF8.column("│b", unit) for unit in range(5)] == [0, 0, 0, 1, 2]
    assert [Encoding.UTF16.column("𝔸b", unit) for unit in range(4)] == [0, 0, 1, 2]


@pytest.mark.parametrize("encoding", Encoding)
@pytest.mark.parametrize("line", ["abc", "│b𝔸"])
def test_position_after_the_end_means_the_end(encoding: Encoding, line: str) -> None:
    assert encoding.column(line, 99) == len(line)
    assert encoding.units(line, 99) == encoding.units(line, len(line))


@pytest.mark.parametrize("encoding", Encoding)
@given(line=_LINES)
def test_units_sum_the_widths_of_previous_characters(encoding: Encoding, line: str) -> None:
    widths = [_width(encoding, sign) for sign in line]
    for column in range(len(line) + 1):
        assert encoding.units(line, column) == sum(widths[:column])


@pytest.mark.parametrize("encoding", Encoding)
@given(line=_LINES, units=st.integers(0, 50))
def test_column_is_the_last_within_the_units(encoding: Encoding, line: str, units: int) -> None:
    widths = [_width(encoding, sign) for sign in line]
    starts = [sum(widths[:column]) for column in range(len(line) + 1)]
    expected = max(column for column, start in enumerate(starts) if start <= units)
    assert encoding.column(line, units) == expected


@pytest.mark.parametrize(
    ("encoding", "units"), [(Encoding.UTF8, 5), (Encoding.UTF16, 3), (Encoding.UTF32, 3)]
)
def test_lone_surrogate_counts_as_a_character(encoding: Encoding, units: int) -> None:
    line = "a\ud83db"  # some clients send this while an emoji is typed
    assert encoding.units(line, 3) == units
    assert encoding.column(line, units) == 3


def test_names_are_those_of_the_protocol() -> None:
    assert [encoding.value for encoding in Encoding] == ["utf-8", "utf-16", "utf-32"]
