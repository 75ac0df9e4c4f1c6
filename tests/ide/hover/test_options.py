"""The hover of an option of a compile."""

import pytest

from hlo_lsp.display.cards import Fact
from hlo_lsp.hlo.vocabulary import read_toml
from hlo_lsp.ide.hover.options import option_card

_NAME = "xla_enable_async_all_gather"


@pytest.mark.parametrize("form", ["{}: AUTO", "--{}=true", "{} {{"])
def test_option_has_its_sentence_in_all_files(form: str) -> None:
    found = option_card(form.format(_NAME), 5)
    assert found is not None
    card, name = found
    assert (card.title, name.text) == (_NAME, _NAME)
    assert card.text.startswith("Allows asynchronous all-gathers.")
    assert card.facts == (Fact("DISABLED", "each all-gather is synchronous"),)


@pytest.mark.parametrize("line", ["xla_unknown: 1", f"  {_NAME}: 1", "", "}", f"{_NAME}x: 1"])
def test_other_lines_have_no_hover(line: str) -> None:
    assert option_card(line, 0) is None


def test_value_has_no_hover() -> None:
    assert option_card(f"{_NAME}: AUTO", len(_NAME) + 2) is None


def test_all_options_have_a_sentence() -> None:
    options = read_toml("compiler_options")
    assert len(options) <= 30
    assert all(option["text"].endswith(".") for option in options.values())
