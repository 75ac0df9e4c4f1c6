"""Tests for the screen of Neovim on a terminal."""

import pytest

from editors.conftest import Compile
from editors.neovim import Neovim

pytestmark = pytest.mark.editors

MODULE, ASSIGNMENT = "", "-buffer-assignment"
WIDE = 260  # columns: lines, hints, lenses and diagnostics fit side by side


def test_hover_opens_in_floating_window(neovim: Neovim, compile_v5e: Compile) -> None:
    with neovim.on_terminal(compile_v5e.path(ASSIGNMENT)) as screen:
        screen.row_of("at the peak, step 33")  # the last lens to come, which moves the lines
        screen.type("/<237 \rwK")
        top, left = screen.wait("a corner", lambda: screen.place("╭"))
        bottom, _ = screen.wait("another corner", lambda: screen.place("╰"))
        screen.settle()
        card = [row[left + 1 :].rstrip("│ ") for row in screen.rows[top + 1 : bottom]]
        assert "1.00 MiB in HBM" in card[0]
        assert any("copy-start.1{0}" in row for row in card[:4])
        assert any("live range 69-72 (3 steps)" in row for row in card)
        assert screen.rows[top - 1].lstrip().startswith("6 ")  # below its line


def test_diagnostic_has_sign_and_text(neovim: Neovim, own: Compile) -> None:
    path = own.path(ASSIGNMENT)
    sound = path.read_text("utf-8")
    path.write_text(
        sound.replace(
            "<237 copy-start.1{0} @0> (size=1048576", "<237 copy-start.1{0} @0> (size=1048575"
        )
    )
    with neovim.on_terminal(path, columns=WIDE) as screen:
        row = screen.row_of("■ size is 1,048,575 B, but the shape")
        assert row.startswith("E   6  value: <237 ")
        (number,) = [at for at, text in enumerate(screen.rows) if text == row]
        assert screen.rows[number - 2].startswith("    5 ")  # a lens is between them
        digits = row.index("1048575")
        assert all(screen.cell(number, digits + offset).underscore for offset in range(7))
        assert not screen.cell(number, digits - 2).underscore
        screen.type(":6s/1048575/1048576/\r")
        screen.wait("no sign", lambda: not any(text.startswith("E ") for text in screen.rows))


def test_hints_are_between_words(neovim: Neovim, compile_v5e: Compile) -> None:
    with neovim.on_terminal(compile_v5e.path(MODULE), columns=WIDE) as screen:
        screen.row_of("K hover")  # the server is there
        screen.type("/%copy-start.3 = \rzt")
        row = screen.row_of("%copy-start.3 at least 640 ns, 10% 512.0 KiB HBM ")
        number = compile_v5e.starting(MODULE, "  %copy-start.3 = ")
        assert f"{number}   step " in row
        screen.type("\\h")  # off, and on again
        plain = f"{number} {compile_v5e.line(MODULE, number)}"[: WIDE - 10]
        screen.wait("the bare line", lambda: screen.place(plain[:60]))
        screen.type("\\h")
        screen.row_of("%copy-start.3 at least 640 ns, 10% 512.0 KiB HBM ")


def test_typing_completes_names(neovim: Neovim, own: Compile) -> None:
    path = own.path(MODULE).with_name("written.hlo")
    path.write_text(
        "HloModule m\n\nENTRY main {\n  zero = f32[] constant(0)\n  ROOT n = f32[] negate(z)\n}\n"
    )
    with neovim.on_terminal(path) as screen:
        screen.row_of("constant(0)")
        screen.row_of("K hover")  # the server is there
        screen.type("5G$i\x18\x0f")
        screen.wait("the menu", lambda: screen.place("negate(zero)"))
