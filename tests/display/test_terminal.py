"""Tests for cards and Markdown on a terminal."""

from dataclasses import replace

from display.console import make_console, output_text
from hlo_lsp.display.cards import Card, Fact, card_markdown
from hlo_lsp.display.table import Table
from hlo_lsp.display.terminal import print_card, print_note

CARD = Card(
    "`fusion.40{0}`",
    (Fact("value", "328, leaf {0} of `fusion.40`"), Fact("padded", "512 B [bold]")),
    "About `S(1)`.",
)


def test_note_with_path_is_wrapped_at_slashes() -> None:
    console = make_console(width=16)
    print_note(console, "in /dumps/train/module_0001.txt")
    assert output_text(console) == "in /dumps/train/\nmodule_0001.txt\n"


def test_table_of_a_card_is_below_its_text() -> None:
    table = Table(("dim 0", "devices"), [["0-3", "0, 1"]])
    card, out = replace(CARD, table=table), make_console()
    print_card(out, card)
    last = [line.rstrip() for line in output_text(out).split("\n")][-3:-1]
    assert last == ["  dim 0  devices", "  0-3    0, 1"]
    assert list(card_markdown(card))[-3:] == ["| Dim 0 | Devices |", "|---|---|", "| 0-3 | 0, 1 |"]


def test_card_is_a_title_and_a_table() -> None:
    out = make_console()
    print_card(out, CARD)
    assert [line.rstrip() for line in output_text(out).split("\n")] == [
        "fusion.40{0}",
        "value   328, leaf {0} of fusion.40",
        "padded  512 B [bold]",
        "About S(1).",
        "",
    ]


def test_colors_appear_only_on_a_terminal() -> None:
    plain, colored = make_console(), make_console(color=True)
    for out in (plain, colored):
        print_card(out, CARD)
    assert "\x1b[" not in output_text(plain)
    assert "\x1b[1;32mfusion.40{0}" in output_text(colored)


def test_card_may_be_a_title_only() -> None:
    out = make_console()
    print_card(out, Card("`x`"))
    assert output_text(out) == "x\n"


def test_narrow_terminal_wraps_facts_completely() -> None:
    out = make_console(width=40)
    words = ", ".join(f"fusion.{number}" for number in range(30))
    print_card(out, Card("t", (Fact("uses", words),)))
    lines = output_text(out).split("\n")
    assert max(map(len, lines)) <= 40
    assert "".join(line[6:].strip() for line in lines[1:]).replace(" ", "") == words.replace(
        " ", ""
    )


def test_long_name_is_wrapped_at_a_slash() -> None:
    console = make_console(width=40)
    name = "jit(train)/transpose(jvp())/while/body/dot_general"
    print_card(console, Card("copy.1", (Fact("op_name", f"`{name}`"),)))
    _, first, second = output_text(console).splitlines()
    assert first.rstrip() == "op_name  jit(train)/transpose(jvp())/"
    assert second.strip() == "while/body/dot_general"
