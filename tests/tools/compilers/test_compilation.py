"""Tests for the selection of programs and the output of the processes that compile them."""

from compilers.compilation import WATCHED, CompilerLog, folder_name, program_names

_LOG = """\
4 [CpuDevice(id=0)]
== mlp
## memory {"file": "m.jit_f.cpu-buffer-assignment.txt", "numbers": {"temp_size_in_bytes": 8}}
   mem CompiledMemoryStats(temp_size_in_bytes=8)
== f4
!! FAIL f4 ValueError no such type
== scan
"""


def test_log_has_programs_failures_and_memory() -> None:
    log = CompilerLog()
    assert log.read(_LOG, "restart_1/") == ["mlp", "f4", "scan"]
    assert log.programs == {"mlp": "", "f4": "ValueError no such type", "scan": ""}
    name = "restart_1/m.jit_f.cpu-buffer-assignment.txt"
    assert log.memory == {name: {"temp_size_in_bytes": 8}}


def test_watch_has_20_programs_and_a_training_step() -> None:
    for backend in ("cpu", "tpu", "cuda"):
        names = program_names(backend, None)
        assert set(names) == WATCHED
        assert len(names) == 21
        assert set(names) < set(program_names(backend, "all"))


def test_named_programs_keep_the_order_of_the_file() -> None:
    assert program_names("cpu", "scan,mlp") == ["mlp", "scan"]


def test_folder_name_has_another_libtpu_only_for_tpus() -> None:
    assert folder_name("tpu", "0.10.2", None) == "tpu_v5e_jax_0.10.2"
    assert folder_name("tpu", "0.10.2", "0.0.52") == "tpu_v5e_jax_0.10.2_libtpu_0.0.52"
    assert folder_name("cpu", "0.10.2", "0.0.52") == "cpu_jax_0.10.2"
