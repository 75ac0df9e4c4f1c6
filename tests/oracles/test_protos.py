"""Tests for the text of converted protos, compared with the text that XLA prints."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dumps import module_files
from hlo_lsp.protos.conversion import convert

pytestmark = pytest.mark.corpus

# Protos lack parts of the header and the pages of allocations.
_NOT_IN_PROTO = re.compile(
    r", (?:allow_spmd_sharding_propagation_to_(?:parameters|output)=\{[^}]*\}"
    r"|(?:replica_count|num_partitions)=\d+|alias_passthrough_params=true)"
)
_PAGE = re.compile(r", page \d+")
_CONFIG = "backend_config={"


def test_protos_equal_the_texts_of_the_compile(corpus_protos: Path) -> None:
    count = 0
    for path in corpus_protos.rglob("*.hlo.pb"):
        converted = convert(path.read_bytes(), path.name)
        assert converted is not None
        for section in converted.sections:
            printed = path.with_name(section.name).read_text("utf-8").split("\n")
            assert _comparable(section.lines) == _comparable(printed), section.name
            count += len(printed)
    assert count > 4_000


def test_modules_equal_the_texts_of_jaxlib(folder: Path) -> None:
    hlo: Any = pytest.importorskip("jaxlib._hlo", reason="there is no jaxlib 0.10.2 for it")
    for path in module_files(folder):
        text = path.read_text("utf-8")
        # With asynchronous calls, jaxlib prints the short form, which dumps do not have.
        if "-start(" in text:
            continue
        try:
            module = hlo.hlo_module_from_text(text)
        except RuntimeError:  # The text is from another release.
            continue
        converted = convert(module.as_serialized_hlo_module_proto(), "m.hlo.pb")
        assert converted is not None
        printed = module.to_string().split("\n")
        assert _comparable(converted.sections[0].lines) == _comparable(printed), path


def _comparable(lines: list[str]) -> list[str]:
    """Return the lines without facts that protos lack, and with sorted configurations."""
    head = _NOT_IN_PROTO.sub("", lines[0])
    return [_sorted_config(_PAGE.sub("", line)) for line in (head, *lines[1:])]


def _sorted_config(line: str) -> str:
    """Sort the keys of a configuration, which libtpu sorts in texts and not in protos."""
    start = line.find(_CONFIG)
    if start < 0:
        return line
    try:
        content = json.loads(line[start + len(_CONFIG) - 1 :])
    except ValueError:
        return line
    return line[:start] + _CONFIG + json.dumps(content, sort_keys=True)
