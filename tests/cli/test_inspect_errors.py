"""What ``hlo-lsp inspect`` cannot answer: a sentence, a status, never a traceback."""

from pathlib import Path

import pytest

from cli.running import run


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "No such file"),
        (b"", "empty"),
        (b"\n\n", "empty"),
        (b"\x7fELF\x02\0\0\0" * 100, "binary"),
        (b"--xla_flag=1\n", "no HLO or memory dump"),
        (b"x" * 5_000_000, "no HLO or memory dump"),
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_file_that_is_no_dump_is_said(
    tmp_path: Path, content: bytes | None, reason: str, form: str
) -> None:
    path = tmp_path / "a file.txt"
    if content is not None:
        path.write_bytes(content)
    ran = run("inspect", path, "--at", "1", "--format", form)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"hlo-lsp: {path}: ")
    assert reason in ran.err
    assert ran.err.count("\n") == 1


def test_a_folder_is_said(tmp_path: Path) -> None:
    ran = run("inspect", tmp_path)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == f"hlo-lsp: {tmp_path}: this is a folder; name one of its files\n"


def test_a_path_through_a_file_is_said(sample: Path) -> None:
    ran = run("inspect", sample / "x.txt")
    assert (ran.status, ran.out) == (2, "")
    assert "ot a directory" in ran.err


@pytest.mark.parametrize("place", ["0", "0:1", "1:0", "-1", "x", "", "3:", ":3", "1:2:3", "1.5"])
def test_a_place_that_is_none_is_wrong_usage(sample: Path, place: str) -> None:
    ran = run("inspect", sample, f"--at={place}")
    assert (ran.status, ran.out) == (2, "")
    assert "LINE" in ran.err


@pytest.mark.parametrize(
    ("selector", "named"),
    [
        ("--at=138", "137 lines"),
        ("--at=999999999999", "137 lines"),
        ("--at=100", "100"),
        ("--at=137", "137"),
        ("--value=1", "value 1"),
        ("--value=-166", "value -166"),
        ("--instruction=nobody", "nobody"),
        ("--instruction=", "instruction"),
        ("--instruction=%", "instruction"),
        ("--instruction=fusion", "fusion"),
        ("--computation=nobody", "nobody"),
        ("--computation=", "computation"),
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_what_is_not_there_is_said(sample: Path, selector: str, named: str, form: str) -> None:
    ran = run("inspect", sample, selector, "--format", form)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(f"hlo-lsp: {sample}")
    assert named in ran.err
    assert ran.err.count("\n") == 1


def test_a_computation_is_no_instruction(tmp_path: Path) -> None:
    path = tmp_path / "a.hlo"
    path.write_text("ENTRY main {\n  ROOT x = f32[] parameter(0)\n}\n", "utf-8")
    ran = run("inspect", path, "--instruction", "%main")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.endswith("no instruction `main`, but a computation: try --computation main\n")


def test_a_column_behind_the_line_is_the_line(sample: Path) -> None:
    assert run("inspect", sample, "--at", "2:999").out == run("inspect", sample, "--at", "2").out
    assert run("inspect", sample, "--at", f"2:{10**15}").status == 0


def test_a_cut_file_is_inspected_as_far_as_it_goes(sample: Path) -> None:
    data = sample.read_bytes()
    for size in range(100, len(data), 997):
        sample.write_bytes(data[:size])
        ran = run("inspect", sample)
        assert ran.status == 0, size
        assert ran.json["kind"] == "dump"


def test_bytes_that_are_no_text_are_replaced(sample: Path) -> None:
    data = sample.read_bytes().replace(b"jit(_threefry_split)", b"jit(\xff\xfe\xe9)")
    sample.write_bytes(data)
    facts = run("inspect", sample, "--value", "166", "--format", "json").json
    assert facts["op_name"] == "jit(\ufffd\ufffd\ufffd)/jit(main)/slice"
