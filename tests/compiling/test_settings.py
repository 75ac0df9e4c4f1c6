"""The settings of a compile that its dump states."""

import shutil
from pathlib import Path

import pytest

from compiling.stand_in import TARGET, UNOPTIMIZED, write_dump
from hlo_lsp.compiling.program import program_at
from hlo_lsp.compiling.settings import CompileSettings, slice_with
from reports.example import MODULE

_EXECUTION = """\
num_replicas: 1
device_assignment {
  computation_devices {
    replica_device_ids: 2
  }
  computation_devices {
    replica_device_ids: 0
  }
}
use_spmd_partitioning: true
use_shardy_partitioner: true
"""


def _settings(folder: Path, **companions: str) -> CompileSettings:
    return program_at(write_dump(folder, **companions)).settings


def test_slice_has_the_bounds_of_the_target(tmp_path: Path) -> None:
    assert _settings(tmp_path).topology == "v5e:2x4"


def test_slice_of_some_chips_has_three_sides(tmp_path: Path) -> None:
    target = TARGET.replace('  variant: "lite"\n', "")
    assert _settings(tmp_path, target_arguments=target).topology == "v5p:2x4x1"


def test_devices_follow_the_assignment(tmp_path: Path) -> None:
    found = _settings(tmp_path, execution_options=_EXECUTION)
    assert found.rest["device_ids"] == [2, 0]
    assert found.is_shardy


def test_header_has_partitions_and_propagation(tmp_path: Path) -> None:
    folder = write_dump(tmp_path)
    (path,) = folder.glob("*before_optimizations.txt")
    more = "allow_spmd_sharding_propagation_to_output={true,false}, num_partitions=4, entry"
    path.write_text(path.read_text("utf-8").replace("entry", more, 1), "utf-8")
    found = program_at(folder).settings
    assert found.partitions == 4
    build = found.rest["build"]
    assert isinstance(build, dict)
    assert build["allow_spmd_sharding_propagation_to_output"] == [True, False]


def test_files_of_listed_options_are_left_out(tmp_path: Path) -> None:
    listed = "xla_tpu_limit: 5\nxla_tpu_dump_logs_to_dir: /home/user\n"
    found = _settings(tmp_path, tpu_comp_env=listed)
    assert found.rest["dumped_options"] == {"xla_tpu_limit": "5"}
    assert found.left_out == ("xla_tpu_dump_logs_to_dir",)


def test_invalid_number_of_devices_is_ignored(tmp_path: Path) -> None:
    folder = write_dump(tmp_path)
    options = "xla_force_host_platform_device_count: many\n"
    (folder / "module_0001.jit_f.cl_12.debug_options").write_text(options, "utf-8")
    assert program_at(folder).settings.rest["host_devices"] == 0


def test_options_with_paths_are_left_out(tmp_path: Path) -> None:
    folder = write_dump(tmp_path)
    options = (
        'xla_gpu_kernel_cache_file: "/home/user/.profile"\nxla_dump_to: "/dumps"\n'
        "xla_cpu_enable_fast_math: true\nxla_list: A\nxla_list: B\n"
        "xla_force_host_platform_device_count: 4\n"
    )
    (folder / "module_0001.jit_f.cl_12.debug_options").write_text(options, "utf-8")
    found = program_at(folder).settings
    assert found.options == {"xla_cpu_enable_fast_math": "true"}
    assert found.left_out == ("xla_gpu_kernel_cache_file",)
    assert found.rest["host_devices"] == 4


def test_all_options_of_libtpu_are_passed(tmp_path: Path) -> None:
    found = _settings(tmp_path).rest
    assert found["dumped_options"] == {"xla_tpu_limit": "5", "xla_tpu_name": "AUTO"}
    assert found["change"] == 12


def test_program_of_jax_is_beside_the_dump(tmp_path: Path) -> None:
    folder = write_dump(tmp_path)
    assert program_at(folder).original is None
    (folder / "module_0001.jit_f.cl_12").mkdir()
    (folder / "module_0001.jit_f.cl_12" / "module.mlir").write_text("module {}\n", "utf-8")
    assert program_at(folder).original == "module {}\n"
    shutil.rmtree(folder / "module_0001.jit_f.cl_12")


@pytest.mark.parametrize("suffix", ["hlo_module_config.txt", "config.pbtxt"])
def test_levels_of_optimization_are_those_of_the_module(tmp_path: Path, suffix: str) -> None:
    folder = write_dump(tmp_path)
    text = "optimization_level: EFFORT_O1\nmemory_fitting_level: EFFORT_O3\n"
    (folder / f"module_0001.jit_f.cl_12.{suffix}").write_text(text, "utf-8")
    effort = program_at(folder).settings.rest["effort"]
    assert effort == {"optimization_level": "O1", "memory_fitting_level": "O3"}


@pytest.mark.parametrize(
    "option",
    [
        'xla_gpu_load_autotune_results_from: "results.pbtxt"',
        'xla_gpu_ptx_compiler_extra_flags: "--keep"',
        'xla_gpu_kernel_cache_file: "kernels"',
        'xla_cpu_any: ".."',
    ],
)
def test_files_without_a_folder_and_flags_of_programs_are_left_out(
    tmp_path: Path, option: str
) -> None:
    folder = write_dump(tmp_path)
    text = f"{option}\nxla_hlo_evaluator_use_fast_path: true\n"
    (folder / "module_0001.jit_f.cl_12.debug_options").write_text(text, "utf-8")
    found = program_at(folder).settings
    assert found.options == {"xla_hlo_evaluator_use_fast_path": "true"}
    assert found.left_out == (option.partition(":")[0],)


def test_gpu_has_its_target_config(tmp_path: Path) -> None:
    config = "gpu_device_info { cuda_compute_capability { major: 9 } }\n"
    path = tmp_path / "module_0001.jit_f.before_optimizations.txt"
    path.write_text(UNOPTIMIZED.replace("f, entry", "f, num_partitions=4, entry"), "utf-8")
    path.with_name("module_0001.jit_f.gpu_target_config.pbtxt").write_text(config, "utf-8")
    path.with_name("module_0001.jit_f.sm_9.0a_gpu_after_optimizations.txt").write_text(
        MODULE, "utf-8"
    )
    options = 'xla_gpu_cuda_data_dir: "programs"\nxla_gpu_autotune_level: 0\n'
    path.with_name("module_0001.jit_f.debug_options").write_text(options, "utf-8")
    found = program_at(tmp_path).settings
    assert (found.platform, found.topology) == ("cuda", "1x1x4")
    assert found.rest["target_config"] == config
    assert found.options == {"xla_gpu_autotune_level": "0"}  # XLA would run programs of the other


def test_slice_is_the_smallest_with_enough_devices() -> None:
    assert slice_with("v6e", 8) == "v6e:2x4"
    assert slice_with("tpu7x", 8) == "tpu7x:2x2x1"
    assert slice_with("v5e", 100_000) is None
