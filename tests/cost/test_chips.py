"""Tests for chips and the least time on them."""

from pathlib import Path

import pytest

from cost.costs import cost_of_text, module, table_of_text
from hlo_lsp.cli.options import argument_parser
from hlo_lsp.cost.chips import chip_of, chips, configured_chip
from hlo_lsp.cost.roofline import Bound
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.program.instruction_owners import InstructionKey

_DOT = module(
    "%a = f32[1000,1000] parameter(0)",
    "%b = f32[1000,1000] parameter(1)",
    "%d = f32[1000,1000] dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    'ROOT %n = f32[1000,1000] negate(%d), metadata={op_name="jit(f)/transpose(jvp(g))/neg"'
    ' source_file="/f.py" source_line=7}',
)


_PLATFORM = "platform_type: TPU_PLATFORM_TYPE_HARDWARE"


@pytest.mark.parametrize("name", chips())
def test_every_figure_has_a_source(name: str) -> None:
    chip = chips()[name]
    assert chip.source.startswith("https://")
    assert chip.peak_flops(16) <= chip.peak_flops(8)
    assert argument_parser().parse_args(["cost", "dump", "--chip", name]).chip == name


def test_narrower_elements_use_the_rate_of_their_width() -> None:
    rates = [chips()["b200"].peak_flops(bits) for bits in (4, 8, 16)]
    assert rates == [9000e12, 4500e12, 2250e12]
    assert chips()["v5e"].peak_flops(4) == chips()["v5e"].peak_flops(8)


def test_collectives_send_with_half_of_both_directions() -> None:
    assert chips()["v5e"].network_bytes_per_second == 200e9


def test_device_has_half_of_a_chip_with_two() -> None:
    assert chips()["tpu7x"].peak_flops(16) == pytest.approx(1153.5e12)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("module_0001.f.sm_9.0a_gpu_after_optimizations.txt", "h100"),
        ("module_0001.f.sm_8.0_gpu_after_optimizations.txt", "a100"),
        ("module_0001.f.sm_8.9_gpu_after_optimizations.txt", None),
        ("module_0001.f.cl_1.after_optimizations.txt", None),
    ],
)
def test_chip_follows_from_the_architecture(path: str, name: str | None) -> None:
    chip = chip_of(cost_of_text(_DOT, path=path).dump)
    assert (None if chip is None else chip.name) == name


@pytest.mark.parametrize(
    ("version", "variant", "platform", "name"),
    [
        ("VIPERFISH", 'variant: "lite"\n  ', _PLATFORM, "v5e"),
        ("VIPERFISH", "", _PLATFORM, "v5p"),
        ("GHOSTLITE", "", _PLATFORM, "v6e"),
        ("0123abcde", "", _PLATFORM, None),
        ("VIPERFISH", "", "", None),  # not completely written
    ],
)
def test_chip_of_a_tpu_is_in_a_file_of_its_own(
    version: str, variant: str, platform: str, name: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "module_0001.f.cl_1.after_optimizations.txt"
    path.write_text(_DOT, "utf-8")
    target = tmp_path / "module_0001.f.cl_1.target_arguments.txt"
    target.write_text(
        "configured_properties {\n  degraded_axes {\n  }\n}\nreplica_count: 1\n"
        f"tpu_topology_args {{\n  version: TPU_VERSION_{version}\n  {variant}{platform}\n}}\n",
        "utf-8",
    )
    workspace = DumpWorkspace()
    chip = chip_of(workspace.compile_of(workspace.file(path)))
    assert (None if chip is None else chip.name) == name


@pytest.mark.parametrize(
    ("per_host", "hosts", "wrap", "used"),
    [
        ("x: 2 y: 2 z: 1", "x: 1 y: 1 z: 1", "", 2),
        ("x: 2 y: 2 z: 1", "x: 4 y: 4 z: 1", "x: true y: true", 4),
        ("x: 1 y: 1 z: 1", "x: 2 y: 1 z: 1", "", 1),
        ("x: 1 y: 1 z: 1", "x: 16 y: 16 z: 1", "", 4),  # libtpu omits that it wraps around
        ("x: 1 y: 1 z: 1", "x: 1 y: 1 z: 1", "", 4),  # says nothing about links
    ],
)
@pytest.mark.parametrize("setting", [None, "v5e"])
def test_collectives_use_the_links_of_the_slice(
    *, per_host: str, hosts: str, wrap: str, used: int, setting: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "module_0001.f.cl_1.after_optimizations.txt"
    path.write_text(_DOT, "utf-8")
    (tmp_path / "module_0001.f.cl_1.target_arguments.txt").write_text(
        "tpu_topology_args {\n  version: TPU_VERSION_VIPERFISH\n"
        f'  variant: "lite"\n  {_PLATFORM}\n'
        f"  chips_per_host_bounds {{\n    {per_host}\n  }}\n  host_bounds {{\n    {hosts}\n  }}\n"
        f"  wrap {{\n    {wrap}\n  }}\n}}\n",
        "utf-8",
    )
    workspace = DumpWorkspace()
    dump = workspace.compile_of(workspace.file(path))
    chip = chip_of(dump, setting)
    assert chip is not None
    assert chip is configured_chip(dump, setting)
    assert chip.network_bytes_per_second == 200e9 * used / 4
    other = chip_of(dump, "v6e")
    assert other is chips()["v6e"]


@pytest.mark.parametrize(
    ("path", "setting", "name"),
    [
        ("module_0001.f.cl_1.after_optimizations.txt", "v5e", "v5e"),
        ("module_0001.f.sm_9.0a_gpu_after_optimizations.txt", "h200", "h200"),
        ("module_0001.f.sm_9.0a_gpu_after_optimizations.txt", "v5e", "h100"),
        ("module_0001.f.cpu_after_optimizations.txt", "v5e", None),
        ("module_0001.f.cl_1.after_optimizations.txt", None, None),
    ],
)
def test_chip_of_a_setting_applies_to_its_kind_of_device(
    path: str, setting: str | None, name: str | None
) -> None:
    chip = configured_chip(cost_of_text(_DOT, path=path).dump, setting)
    assert (None if chip is None else chip.name) == name


def test_least_time_is_that_of_the_slowest_resource() -> None:
    table = table_of_text(_DOT, chips()["v5e"])
    dot, negate = table.cost_groups(InstructionKey.INSTRUCTION)
    assert (dot.name, dot.cost.bound) == ("d", Bound.MEMORY)
    assert dot.cost.least_ps == pytest.approx(12e18 / 819e9)
    assert dot.cost.intensity == pytest.approx(2e9 / 12e6)
    assert negate.cost.least_ps == pytest.approx(8e18 / 819e9)
    assert table.cost.total.least_ps == pytest.approx(20e18 / 819e9)


def test_narrow_operands_use_the_higher_peak() -> None:
    text = _DOT.replace("f32[1000,1000] parameter", "s8[4096,4096] parameter")
    text = text.replace("f32[1000,1000] dot", "s32[4096,4096] dot")
    dot = table_of_text(text, chips()["v5e"]).timed[0]
    assert dot.least is not None
    assert (dot.name, dot.least.bound) == ("d", Bound.COMPUTE)
    assert dot.least.ps == pytest.approx(2e12 * 4096**3 / 393e12)


def test_four_bits_use_the_highest_peak() -> None:
    text = _DOT.replace("f32[1000,1000] parameter", "f4e2m1fn[4096,4096] parameter")
    text = text.replace("f32[1000,1000] dot", "f32[4096,4096] dot")
    dot = table_of_text(text, chips()["b200"]).timed[0]
    assert dot.run_ps == pytest.approx(2e12 * 4096**3 / 9000e12)


def test_copy_to_host_memory_takes_the_time_of_the_link() -> None:
    text = module(
        "%a = f32[1024,1024]{1,0:T(8,128)} parameter(0)",
        "%s = (f32[1024,1024]{1,0:T(8,128)S(5)}, f32[1024,1024]{1,0:T(8,128)}, u32[]{:S(2)})"
        " copy-start(%a)",
        "ROOT %d = f32[1024,1024]{1,0:T(8,128)S(5)} copy-done(%s)",
    )
    table = table_of_text(text, chips()["v5e"], "module_0001.f.cl_1.after_optimizations.txt")
    copy = table.cost_groups(InstructionKey.INSTRUCTION)[0]
    assert (copy.name, copy.cost.bound, copy.cost.memory_bytes) == ("s", Bound.HOST, 2 << 22)
    assert copy.cost.least_ps == pytest.approx((1 << 22) * 1e12 / 16e9)


@pytest.mark.parametrize(
    ("key", "names"),
    [
        (InstructionKey.LINE, ["no Python line", "/f.py:7"]),
        (InstructionKey.SCOPE, ["no scope", "jit(f)/transpose(jvp(g))"]),
        (InstructionKey.OPCODE, ["dot", "negate"]),
        (InstructionKey.PHASE, ["other", "backward"]),
        (InstructionKey.COMPUTATION, ["e"]),
    ],
)
def test_groups_are_sorted_by_time(key: InstructionKey, names: list[str]) -> None:
    for chip in (None, chips()["v5e"]):
        groups = table_of_text(_DOT, chip).cost_groups(key)
        assert [group.name for group in groups] == names
        assert sum(group.cost.cost.flops for group in groups) == 2 * 10**9 + 10**6
