"""The regular expression of a rule agrees with Lark."""

from itertools import islice
from pathlib import Path

import pytest

from syntax.rules import GROUPS, disagreements, distinct_lines


@pytest.mark.parametrize("group", GROUPS)
def test_both_readers_find_the_same_fields(group: str, corpus_small: Path) -> None:
    lines = distinct_lines(corpus_small, group, every=11)
    assert list(islice(disagreements(lines, group, each=100), 3)) == []


@pytest.mark.corpus
@pytest.mark.parametrize("group", GROUPS)
def test_both_readers_find_the_same_fields_everywhere(group: str, corpus_small: Path) -> None:
    lines = distinct_lines(corpus_small, group)
    assert list(islice(disagreements(lines, group, each=None), 3)) == []
