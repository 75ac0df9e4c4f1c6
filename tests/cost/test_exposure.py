"""Why a collective overlaps with no computation."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from hlo_lsp.cost.chips import chips
from hlo_lsp.cost.exposure import ExposureCause, exposure_cause
from hlo_lsp.cost.program_cost import program_cost
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.program.transfers import AsyncOperation

_TEXT = """\
HloModule m, is_scheduled=true, num_partitions=2

ENTRY %e {
  %x = f32[64,64] parameter(0)
  %a = f32[64,64] all-reduce(%x), channel_id=1, to_apply=%sum
  %b = f32[64,64] bitcast(%a)
  %y = f32[64,64] dot(%b, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %p = (f32[64,64], f32[64,64]) all-reduce(%x, %y), channel_id=2, to_apply=%sum
  %g = f32[64,64] get-tuple-element(%p), index=1
  %n = f32[64,64] negate(%g)
  %c = f32[64,64] all-reduce(%x), channel_id=3, to_apply=%sum
  ROOT %t = (f32[64,64], f32[64,64]) tuple(%n, %c)
}
"""
_OPTIONS = """\
# A comment: with a colon
xla_enable_async_all_reduce: DISABLED
xla_tpu_enable_async_collective_fusion_fuse_all_reduce: false
xla_tpu_enable_async_collective_fusion: true
"""


def _cause(
    dump: Compile,
    name: str,
    kind: str = "all-reduce",
    *,
    chip: str = "",
    least_ps: float | None = None,
    others: Sequence[tuple[str, str]] = (),
) -> ExposureCause:
    """Return the cause of a collective beside others, with the names of their ends."""
    program, line = program_cost(dump, chips()[chip] if chip else None), dump.instruction(name)
    assert program is not None
    assert line is not None
    found = [_operation(dump, kind, *ends) for ends in others]
    return exposure_cause(program, line.record, kind, least_ps, found)


def _operation(dump: Compile, kind: str, start: str, done: str) -> AsyncOperation:
    lines = [dump.instruction(name) for name in (start, done)]
    first, last = (line.record for line in lines if line is not None)
    return AsyncOperation(kind, first, last, 0, 0, 0, 0, first)


def _dump(folder: Path, options: str, text: str = _TEXT) -> Compile:
    path = folder / "module_0001.m.cl_1.after_optimizations.txt"
    path.write_text(text, "utf-8")
    (folder / "module_0001.m.cl_1.tpu_comp_env.txt").write_text(options, "utf-8")
    workspace = DumpWorkspace()
    return workspace.compile_of(workspace.file(path))


@pytest.mark.parametrize(("name", "needs"), [("a", "y"), ("p", "n")])
def test_products_that_depend_on_it_cannot_overlap(name: str, needs: str) -> None:
    dump = Compile([DumpFile.of_text(_TEXT, "m.txt")])
    assert _cause(dump, name) == ExposureCause("dependency", None, needs, 0)


def test_options_forbid_asynchronous_collectives(tmp_path: Path) -> None:
    assert _cause(_dump(tmp_path, _OPTIONS), "c") == ExposureCause(
        "option",
        "xla_enable_async_all_reduce: DISABLED, "
        "xla_tpu_enable_async_collective_fusion_fuse_all_reduce: false",
    )


@pytest.mark.parametrize("options", ["", "xla_enable_async_all_reduce: AUTO\n"])
def test_without_forbidding_option_the_cause_is_unknown(tmp_path: Path, options: str) -> None:
    assert _cause(_dump(tmp_path, options), "c") == ExposureCause("unknown")


def test_too_little_work_is_independent() -> None:
    dump = Compile([DumpFile.of_text(_TEXT, "m.txt")])
    cause = _cause(dump, "c", chip="v5e", least_ps=10**9)
    assert (cause.kind, cause.instruction) == ("dependency", None)
    assert cause.text.startswith("at most ")
    assert cause.text.endswith(" of 1.00 ms could overlap")
    assert _cause(dump, "c", chip="v5e", least_ps=1).kind == "unknown"


def test_result_of_the_program_has_no_user() -> None:
    text = "HloModule m, is_scheduled=true\n\nENTRY %e {\n  %x = f32[8] parameter(0)\n"
    text += "  ROOT %r = f32[8] all-reduce(%x), channel_id=1, to_apply=%sum\n}\n"
    cause = _cause(Compile([DumpFile.of_text(text, "m.txt")]), "r")
    assert (cause.kind, cause.text) == ("dependency", "nothing else can run meanwhile")


def test_loop_can_run_meanwhile() -> None:
    loop = "  %w = f32[64,64] while(%x), condition=%more, body=%step\n  ROOT"
    dump = Compile([DumpFile.of_text(_TEXT.replace("  ROOT", loop), "m.txt")])
    assert _cause(dump, "c", chip="v6e", least_ps=10**9).kind == "unknown"


_OFFLOAD = "xla_tpu_enable_sparse_core_collective_offload_all_reduce: "


@pytest.mark.parametrize(
    ("chip", "value", "is_cause"),
    [
        ("v6e", "AUTO", True),
        ("v6e", "ENABLED", False),
        ("v5p", "AUTO", True),
        ("tpu7x", "AUTO", False),
        ("tpu7x", "DISABLED", True),
    ],
)
def test_sparse_cores_run_collectives(
    tmp_path: Path, chip: str, value: str, *, is_cause: bool
) -> None:
    cause = _cause(_dump(tmp_path, _OPTIONS + _OFFLOAD + value), "c", chip=chip)
    assert cause.option == (_OFFLOAD + value if is_cause else None)


def test_other_chips_have_no_sparse_cores(tmp_path: Path) -> None:
    cause = _cause(_dump(tmp_path, f"{_OPTIONS}{_OFFLOAD}AUTO"), "c", chip="v5e")
    assert cause.kind == "option"
    assert _OFFLOAD not in cause.text


@pytest.mark.parametrize(("chip", "kind"), [("v5e", "dependency"), ("", "option")])
def test_fusions_need_a_product(tmp_path: Path, chip: str, kind: str) -> None:
    text = "HloModule m, is_scheduled=true\n\nENTRY %e {\n  %x = f32[64,64] parameter(0)\n"
    text += "  %n = f32[64,64] negate(%x)\n"
    text += "  %c = f32[64,64] all-reduce(%x), channel_id=1, to_apply=%sum\n"
    text += "  ROOT %t = (f32[64,64], f32[64,64]) tuple(%n, %c)\n}\n"
    assert _cause(_dump(tmp_path, _OPTIONS, text), "c", chip=chip).kind == kind


def test_without_a_product_the_compiler_is_no_cause(tmp_path: Path) -> None:
    text = _TEXT.replace("negate(%g)", "negate(%x)")
    cause = _cause(_dump(tmp_path, _OPTIONS, text), "p", chip="v5e", least_ps=1)
    assert cause.text == "no product of matrices can run meanwhile"


_SCALAR = _TEXT.replace("%c = f32[64,64] all-reduce(%x)", "%c = f32[] all-reduce(%x)")
_SEVERAL = _TEXT.replace("%c = f32[64,64] all", "%c = (f32[8], f32[8]) all")


@pytest.mark.parametrize(
    ("text", "what"), [(_SCALAR, "sum of a scalar"), (_SEVERAL, "sum of several arrays")]
)
def test_sums_that_are_always_synchronous(tmp_path: Path, text: str, what: str) -> None:
    cause = _cause(_dump(tmp_path, _OPTIONS, text), "c", chip="v5e")
    assert cause.kind == "compiler"
    assert cause.text == f"XLA makes no {what} asynchronous on this chip"


@pytest.mark.parametrize("chip", ["tpu7x", ""])
def test_without_options_sums_of_sparse_cores_have_no_cause(tmp_path: Path, chip: str) -> None:
    assert _cause(_dump(tmp_path, "", _SCALAR), "c", chip=chip).kind == "unknown"


_LEAST = "\nxla_tpu_sparse_core_all_reduce_offload_min_size_in_bytes: "


@pytest.mark.parametrize(
    ("text", "value", "is_cause"),
    [(_SCALAR, "65536", True), (_TEXT, "65536", True), (_TEXT, "16384", False)],
)
def test_sparse_cores_run_only_large_collectives(
    tmp_path: Path, text: str, value: str, *, is_cause: bool
) -> None:
    options = f"{_OFFLOAD}ENABLED{_LEAST}{value}\n"
    cause = _cause(_dump(tmp_path, options, text), "c", chip="v6e")
    assert cause.option == (f"{_LEAST.strip()} {value}" if is_cause else None)


def test_asynchronous_collectives_of_cpus() -> None:
    dump = Compile([DumpFile.of_text(_TEXT, "module_0001.m.cpu_after_optimizations.txt")])
    assert _cause(dump, "c").text == "XLA makes no collective asynchronous on CPUs"
    assert _cause(dump, "a").kind == "dependency"


@pytest.mark.parametrize(("least_ps", "kind"), [(1, "option"), (10**6, "dependency")])
def test_products_cover_half_of_a_fused_collective(
    tmp_path: Path, least_ps: int, kind: str
) -> None:
    dump = _dump(tmp_path, _OPTIONS)
    cause = _cause(dump, "c", chip="v5e", least_ps=least_ps)
    assert cause.kind == kind


def test_loop_does_not_cover_a_fused_collective(tmp_path: Path) -> None:
    loop = "  %w = f32[64,64] while(%x), condition=%more, body=%step\n  ROOT"
    text = _TEXT.replace("%x, %y) all", "%x, %x) all").replace("  ROOT", loop)
    text = text.replace("dot(%b, %b)", "dot(%c, %c)")
    cause = _cause(_dump(tmp_path, "", text), "c", chip="v5e", least_ps=10**9)
    assert cause.text == (
        "y needs it; only loops and calls can run meanwhile, which cover none on this chip"
    )


@pytest.mark.parametrize(("chip", "kind"), [("v5e", "dependency"), ("v6e", "option")])
def test_product_covers_one_fused_collective(tmp_path: Path, chip: str, kind: str) -> None:
    product = "  %y = f32[64,64] dot("
    text = _TEXT.replace(product, "  %s = f32[64,64] fusion(%x), calls=%f\n" + product)
    text = text.replace("  %p =", "  %d = f32[64,64] fusion(%s), calls=%f\n  %p =")
    cause = _cause(_dump(tmp_path, _OPTIONS, text), "c", chip=chip, others=[("s", "d")])
    assert cause.kind == kind
    if kind == "dependency":
        assert cause.text.endswith("the products of matrices meanwhile cover other collectives")
