"""Inlay hints about the donation of parameters."""

from hlo_lsp.ide.inlay_hints import HintKind, hints
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

_STEM = "module_0001.jit_f.cpu_after_optimizations"
_MODULE = """\
HloModule jit_f, is_scheduled=true, input_output_alias={ {0}: (0, {}) }, buffer_donor={ (2, {}) }

%double (z: f32[512]) -> f32[512] {
  %z = f32[512]{0} parameter(0)
  ROOT %t = f32[512]{0} add(%z, %z)
}

ENTRY %main (a: f32[512], b: f32[512], c: f32[64], d: f32[256], e: f32[2]) -> (f32[512], f32[512], f32[2]) {
  %a = f32[512]{0} parameter(0), metadata={op_name="state"}
  %b = f32[512]{0} parameter(1)
  %c = f32[64]{0} parameter(2)
  %d = f32[256]{0} parameter(3)
  %e = f32[2]{0} parameter(4)
  %s = f32[512]{0} fusion(%a), kind=kLoop, calls=%double
  %r = f32[512]{0} custom-call(%a, %b, %c, %d), custom_call_target="f"
  %q = f32[2]{0} negate(%e)
  ROOT %o = (f32[512]{0}, f32[512]{0}, f32[2]{0}) tuple(%s, %r, %q)
}
"""  # noqa: E501
_ALLOCATIONS = [("a", 2048), ("b", 2048), ("c", 256), ("d", 1024), ("e", 8), ("r", 2048), ("q", 8)]
_ASSIGNMENT = "BufferAssignment:\n" + "".join(
    f"allocation {number}: size {size},"
    + (f" parameter {number}, shape |f32[{size // 4}]| at ShapeIndex {{}}" if number < 5 else "")
    + f":\n value: <{number} {name} @0> (size={size},offset=0): f32[{size // 4}]{{0}}\n"
    for number, (name, size) in enumerate(_ALLOCATIONS)
)


def _shown(suffix: str) -> dict[str, tuple[str, str]]:
    files = [
        DumpFile.of_text(_MODULE, f"{_STEM}.txt"),
        DumpFile.of_text(_ASSIGNMENT, f"{_STEM}-buffer-assignment.txt"),
        DumpFile.of_text(_MODULE, "module_0001.jit_f.before_optimizations.txt"),
    ]
    file = next(one for one in files if one.label.endswith(f"{suffix}.txt"))
    kinds = frozenset({HintKind.DONATION})
    found = (hint for part in hints(Compile(files), file, kinds=kinds) for hint in part)
    return {file.lines[one.line][: one.column]: (one.label, one.tooltip) for one in found}


def test_large_parameters_show_their_donation() -> None:
    assert _shown("cpu_after_optimizations") == {
        "  %a = f32[512]{0} parameter(0)": (
            "donated",
            "state, 2.0 KiB: donated, used by an output: to output {0}",
        ),
        "  %b = f32[512]{0} parameter(1)": (
            "usable, but not donated",
            "parameter 1, 2.0 KiB: usable, but not donated: fits output {1}",
        ),
        "  %c = f32[64]{0} parameter(2)": (
            "donated, but not used",
            "parameter 2, 256 B: donated, but not used: no output has its type and dimensions",
        ),
    }


def test_other_texts_show_no_donation() -> None:
    assert _shown("before_optimizations") == {}
