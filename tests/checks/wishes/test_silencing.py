"""A code more to ignore in a settings file, whatever else stands there."""

import pytest

from hlo_lsp.checks.wishes.silencing import silenced


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", 'ignore = ["x"]\n'),
        ("# mine\n", 'ignore = ["x"]\n# mine\n'),
        ('ignore = ["a"]\n', 'ignore = ["x", "a"]\n'),
        ("ignore = []\n", 'ignore = ["x"]\n'),
        ("ignore=[ ]\n", 'ignore=["x" ]\n'),
        ('select = ["a"]\nignore = [\n  "a", # why\n]\n', None),
        ("[thresholds]\npadding_ratio = 3\n", 'ignore = ["x"]\n[thresholds]\npadding_ratio = 3\n'),
        ('[thresholds]\nignore = ["a"]\n', 'ignore = ["x"]\n[thresholds]\nignore = ["a"]\n'),
        ('select = ["""\nignore = ["""]\n', 'ignore = ["x"]\nselect = ["""\nignore = ["""]\n'),
    ],
)
def test_a_code_is_written_where_it_counts(text: str, after: str | None) -> None:
    found = silenced(text, "x")
    assert found is not None
    lines = text.split("\n")
    line = lines[found.line]
    lines[found.line] = line[: found.column] + found.text + line[found.column :]
    expected = after or text.replace("ignore = [", 'ignore = ["x", ')
    assert "\n".join(lines) == expected


@pytest.mark.parametrize("text", ['ignore = ["x"]', "ignore = [", 'ignore = "a"', "ignore.a = 1"])
def test_nothing_is_written_where_it_says_so_or_cannot_be_read(text: str) -> None:
    assert silenced(text, "x") is None
