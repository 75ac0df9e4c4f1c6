"""Tests for the work of the search for HLO in other languages."""

import pytest

from hlo_lsp.syntax.embedded_hlo import HostLanguage, embedded_sections
from hostile.parts import Make
from hostile.work import count_lines

_TEXTS: dict[str, Make] = {
    "open raw strings": lambda n: 'R"(HloModule' * n,
    "delimiters": lambda n: "".join(f'R"d{number}(' for number in range(n)) + "HloModule",
    "raw strings on one line": lambda n: 'R"(HloModule m)",' * n,
    "many modules": lambda n: 'R"(HloModule m\n\nENTRY e {\n}\n)", ' * n,
    "open triple quotes": lambda n: '"""HloModule\'\'\'"' * n,
    "many quotes": lambda n: '"' * n + "HloModule",
    "many backslashes": lambda n: '"""HloModule' + "\\" * n + '"""',
    "blank lines": lambda n: 'R"(' + "\n" * n + 'HloModule m)"',
    "comments": lambda n: 'R"(' + "// x\n" * n + 'HloModule m)"',
    "blanks in a statement": lambda n: f'R"(HloModule m\na {{\na{" " * n}x\n}})"',
    "blanks in a header": lambda n: f'R"(HloModule m\na{" " * n}(\n}})"',
    "capitals": lambda n: f'R"(HloModule m\na {{\n{"A " * n}\n}})"',
    "signatures": lambda n: f'R"(HloModule m\na{"() -> x" * n} {{\n}})"',
    "open fences": lambda n: "```hlo\nHloModule\n" * n,
    "blanks after a fence": lambda n: f"```{' ' * n}`\nHloModule",
}
_SIZES = (100, 300, 900)
_MAX_GROWTH = 3.5  # of the added work, for three times as much added text
_NEGLIGIBLE_LINES = 100


@pytest.mark.parametrize("language", HostLanguage)
@pytest.mark.parametrize("name", _TEXTS)
def test_search_takes_linear_work(name: str, language: HostLanguage) -> None:
    costs = []
    for size in _SIZES:
        lines = _TEXTS[name](size).split("\n")
        with count_lines() as counter:
            sections = embedded_sections(lines, language)
        costs.append(counter.lines + sum(len("".join(one.text(lines))) for one in sections))
    small, middle, large = costs
    assert large - middle <= max(_MAX_GROWTH * (middle - small), _NEGLIGIBLE_LINES)
