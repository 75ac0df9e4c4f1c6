"""Tests for modules printed with each of XLA's HloPrintOptions."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dumps import files_of
from hlo_lsp.checks.framework.finding import Severity
from hlo_lsp.checks.run import check
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.file_kinds import FileKind
from oracles.compiles import on_typical_folders
from oracles.instruction_forms import print_options
from oracles.xla_parser import ends_the_process

pytestmark = pytest.mark.corpus

_MAX_TEXT_BYTES = 60_000
_SAMPLE_INTERVAL = 24  # in modules


@on_typical_folders
def test_every_print_option_is_read_without_findings(folder: Path) -> None:
    hlo = pytest.importorskip("jaxlib._hlo")
    options = print_options(hlo)
    checked_counts: Counter[str] = Counter()
    paths = [
        path for path in files_of(folder, FileKind.MODULE) if path.stat().st_size < _MAX_TEXT_BYTES
    ]
    for path in paths[::_SAMPLE_INTERVAL]:
        module = _parse(hlo, path.read_text("utf-8"))
        for name, option in options.items() if module is not None else ():
            printed = module.to_string(option)
            if not ends_the_process(printed) and _parse(hlo, printed) is not None:
                checked_counts[name] += 1
                file = DumpFile.of_text(printed)
                findings = check(Compile([file]), file)
                found = [one for one in findings if one.severity is Severity.ERROR]
                assert not found, (name, found[0].message, printed.split("\n")[found[0].place.line])
    assert not paths or set(checked_counts) >= {"without percent signs", "short", "canonical"}


def _parse(hlo: Any, text: str) -> Any:
    try:
        return hlo.hlo_module_from_text(text)
    except RuntimeError:
        return None
