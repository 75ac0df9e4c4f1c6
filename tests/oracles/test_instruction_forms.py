"""No opcode, attribute, header field, and print option of XLA is accused."""

from typing import Any

import pytest

from hlo_lsp.checks.run import check
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from oracles.instruction_forms import module_texts, print_options


@pytest.fixture(scope="module")
def hlo() -> Any:
    return pytest.importorskip("jaxlib._hlo", reason="there is no jaxlib 0.10.2 for this Python")


def _accusations(text: str) -> list[str]:
    file = DumpFile.of_text(text)
    return [finding.message for finding in check(Compile([file]), file)]


@pytest.mark.parametrize("text", [pytest.param(text, id=text[-60:]) for text in module_texts()])
def test_printed_forms_have_no_finding(hlo: Any, text: str) -> None:
    module = hlo.hlo_module_from_text(text)
    assert _accusations(text) == []
    options = print_options(hlo)
    for name in ("default", "short", "canonical", "operands with shapes"):
        assert _accusations(module.to_string(options[name])) == []


def test_forms_have_every_opcode(hlo: Any) -> None:
    modules = map(hlo.hlo_module_from_text, module_texts())
    used = {
        instruction.opcode.name
        for module in modules
        for computation in module.computations()
        for instruction in computation.instructions()
    }
    assert used >= {name for name in dir(hlo.HloOpcode) if name.startswith("k")}
