"""Hover, definition, and links in texts with out-of-memory messages."""

import pytest

from hlo_lsp.display.cards import Card
from hlo_lsp.ide.oom_text import oom_card, oom_definitions, oom_links
from hlo_lsp.memory.oom_join import JoinedMessage, join_message
from oom_messages import GPU, LONG, dump, message, text_of

_LINES = text_of(LONG).split("\n")


@pytest.fixture(scope="module")
def joined() -> JoinedMessage:
    return join_message(message(text_of(LONG)), [dump()])


def _card_at(joined: JoinedMessage, line: int, word: str) -> Card | None:
    return oom_card(_LINES[line], line, _LINES[line].index(word), [joined])


def _line(text: str, after: int = 0) -> int:
    return next(n for n, line in enumerate(_LINES) if n >= after and text in line)


def _facts(card: Card | None) -> dict[str, str]:
    assert card is not None
    return {fact.label: fact.text for fact in card.facts}


def test_entry_shows_its_buffer(joined: JoinedMessage) -> None:
    facts = _facts(_card_at(joined, _line("1. Size"), "Size"))
    assert facts["size"] == "7,247,757,312 B (6.75 GiB)"
    assert facts["value"].endswith("`fusion.4{}`, in allocation 33, offset 0")
    assert facts["source"] == "/home/user/models/oom2.py:16"


def test_shape_shows_cause_of_padding(joined: JoinedMessage) -> None:
    facts = _facts(_card_at(joined, _line("Shape: f32[]"), "f32"))
    assert facts["padding"].startswith("508 B, 99.2%")


def test_size_in_table_is_shown_in_bytes(joined: JoinedMessage) -> None:
    facts = _facts(_card_at(joined, _line("reserved"), "258"))
    assert facts["size"].startswith("270,532,608 B (258.00 MiB), rounded by at most")


def test_other_text_has_no_card(joined: JoinedMessage) -> None:
    assert _card_at(joined, _line("Output size"), "Output") is None


def test_shape_of_gpu_has_no_tiles() -> None:
    found = join_message(message(GPU), [])
    lines = GPU.split("\n")
    line = next(n for n, text in enumerate(lines) if "Shape:" in text)
    card = oom_card(lines[line], line, lines[line].index("f32"), [found])
    assert "padded size" not in _facts(card)


def test_definition_is_instruction_and_value(joined: JoinedMessage) -> None:
    places = list(oom_definitions([joined], _line("1. Size")))
    assert [place.file.lines[place.line][place.start : place.end] for place in places] == [
        "fusion.4",
        "<137 fusion.4 @0>",
    ]
    assert len({place.file for place in places}) == 2


def test_operators_link_to_python_lines(joined: JoinedMessage) -> None:
    links = [
        (_LINES[link.line][link.start : link.end], str(link.source))
        for link in oom_links(_LINES, [joined])
    ]
    assert links == [
        ('op_name="jit(train_step)/sub"', "/home/user/models/oom2.py:16"),
        ('op_name="jit(train_step)/reduce_sum"', "/home/user/models/oom2.py:19"),
        ('op_name="jit(train_step)/stack"', "/home/user/models/oom2.py:15"),
    ]


def test_printed_source_is_link() -> None:
    text = text_of("libtpu_0.0.17.1_hbm")
    link = next(oom_links(text.split("\n"), [join_message(message(text), [])]))
    assert str(link.source) == "/home/user/models/oom.py:16"
