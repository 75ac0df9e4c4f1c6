"""Tests for diagnostics after fast typing."""

import random
from collections.abc import Iterator
from pathlib import Path

from editors.conftest import Compile
from editors.vscode.checking import checked, problems_of
from editors.vscode.dump import ASSIGNMENT, lines, printed
from editors.vscode.host import Spot, hover, problems, spot, uri
from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import Window

pytestmark = vscode(1)
KEYS = 300
# Every key inserts its character only, so that the test can predict the text.
PLAIN = {
    "editor.autoClosingBrackets": "never",
    "editor.autoIndent": "none",
    "editor.useTabStops": False,
    "editor.acceptSuggestionOnEnter": "off",
    "editor.acceptSuggestionOnCommitCharacter": False,
    # A list that opens late takes the arrow keys.
    "editor.quickSuggestions": False,
    "editor.suggestOnTriggerCharacters": False,
    "editor.parameterHints.enabled": False,
}
ODD = "()[]{}<>,=:@ x9"  # what opens and closes, divides, and begins names and numbers


class Typist:
    """A text with a cursor, which keys edit."""

    def __init__(self, text: list[str], line: int, column: int, seed: int) -> None:
        self.text, self.line, self.column = text, line, column
        self._wanted = column  # moves up and down keep to it, as far as lines are long enough
        self._random = random.Random(seed)

    def keys(self) -> Iterator[str]:
        """Yield keys, each applied to the text; some damage stays."""
        while True:
            for key in self._some():
                self.press(key)
                yield key

    def press(self, key: str) -> None:
        before, after = self.text[self.line][: self.column], self.text[self.line][self.column :]
        if key == "Enter":
            self.text[self.line : self.line + 1] = [before, after]
            self._move(self.line + 1, 0)
        elif key == "Backspace":
            if self.column:
                self.text[self.line] = before[:-1] + after
                self._move(self.line, self.column - 1)
            else:
                self._join(self.line - 1)
        elif key in {"ArrowUp", "ArrowDown"}:
            self.line += 1 if key == "ArrowDown" else -1
            self.column = min(self._wanted, len(self.text[self.line]))
        else:
            self.text[self.line] = before + key + after
            self._move(self.line, self.column + 1)

    def _some(self) -> list[str]:
        what, count = self._random.random(), self._random.randint(1, 5)
        away = ["Backspace"] * count
        if what < 0.3:
            return [*away, *self.text[self.line][: self.column][-count:]]
        if what < 0.6:
            return [*self._random.choices(ODD, k=count), *away]
        if what < 0.74:
            return ["Enter", "Backspace"]
        if what < 0.77:
            return ["Enter"]
        if what < 0.9:
            return ["ArrowDown"] * count
        return [self._random.choice("0123456789 "), "ArrowUp"]

    def _join(self, line: int) -> None:
        column = len(self.text[line])
        self.text[line : line + 2] = [self.text[line] + self.text[line + 1]]
        self._move(line, column)

    def _move(self, line: int, column: int) -> None:
        self.line, self.column, self._wanted = line, column, column


async def test_fast_typing_ends_with_right_problems(
    dump: Compile, window: Window, tmp_path: Path
) -> None:
    await window.host.configure(PLAIN)
    path = dump.path(ASSIGNMENT)
    start = spot(path, " value: <237 copy-start.1{0} @0> (size=10485^76,")
    count = len(lines(path))
    typist = Typist(lines(path), start.line, start.column, seed=307)
    below = spot(path, "<235 ^fusion @1>")
    value = printed(path, "<235 fusion @1>")
    await window.open(start)
    await until(lambda: hover(window.host, below))  # it is read before the storm begins
    await window.page.locator(".editor-instance .view-line", has_text="copy-start.1").first.click()
    await window.open(start)

    for _, key in zip(range(KEYS), typist.keys(), strict=False):
        await window.page.keyboard.press("Space" if key == " " else key)

    typed = "\n".join(typist.text) + "\n"
    assert await until(lambda: window.host.ask("text", uri(path)), lambda text: text == typed)
    place = (typist.line + 1, typist.column + 1)
    await until(window.cursor, lambda cursor: cursor == place)
    expected = checked(dump, path, typed, tmp_path / "typed")
    assert {"syntax", "size-mismatch"} <= {code for *_, code, _ in expected}
    await until(lambda: problems(window.host, path), lambda found: problems_of(found) == expected)
    await window.page.keyboard.press("Control+Shift+m")
    row = window.page.locator(".markers-panel .monaco-list-row", has_text=dump.folder.name)
    await until(row.inner_text, lambda text: str(len(expected)) in text.split())

    moved = Spot(path, below.line + len(typist.text) - count, below.column)
    place_text = f"bytes {value.offset:,} to {value.offset + value.size:,}"
    await until(
        lambda: hover(window.host, moved),
        lambda card: "**`fusion`**" in card and place_text in card,
    )
