"""Errors of ``hlo-lsp inspect``."""

from pathlib import Path

import pytest

from cli.command import run


def test_folder_is_an_error(tmp_path: Path) -> None:
    result = run("inspect", tmp_path)
    assert (result.status, result.out) == (2, "")
    what = "this is a folder; specify a name, or one of its files"
    assert result.err.startswith(f"hlo-lsp: {tmp_path}: {what}; `hlo-lsp summary --values ")


def test_path_through_file_is_an_error(sample: Path) -> None:
    result = run("inspect", sample / "x.txt")
    assert (result.status, result.out) == (2, "")
    assert "ot a directory" in result.err


@pytest.mark.parametrize("place", ["0", "0:1", "1:0", "-1", "x", "", "3:", ":3", "1:2:3", "1.5"])
def test_malformed_position_is_a_usage_error(sample: Path, place: str) -> None:
    result = run("inspect", sample, f"--at={place}")
    assert (result.status, result.out) == (2, "")
    assert "LINE" in result.err


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
def test_missing_target_is_an_error(sample: Path, selector: str, named: str, form: str) -> None:
    result = run("inspect", sample, selector, "--format", form)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(f"hlo-lsp: {sample}")
    assert named in result.err
    assert result.err.count("\n") == 1


def test_computation_name_suggests_its_option(tmp_path: Path) -> None:
    path = tmp_path / "a.hlo"
    path.write_text("ENTRY main {\n  ROOT x = f32[] parameter(0)\n}\n", "utf-8")
    result = run("inspect", path, "--instruction", "%main")
    assert (result.status, result.out) == (1, "")
    assert result.err.endswith(
        "no instruction `main`; it is a computation: use --computation main\n"
    )


def test_missing_instruction_suggests_similar_name(tmp_path: Path) -> None:
    path = tmp_path / "a.hlo"
    path.write_text("ENTRY main {\n  ROOT fusion.40 = f32[] parameter(0)\n}\n", "utf-8")
    result = run("inspect", path, "--instruction", "fusion.4")
    assert result.err.endswith("no instruction `fusion.4`; did you mean `fusion.40`?\n")


def test_missing_value_names_the_ids(sample: Path) -> None:
    assert "; the ids are " in run("inspect", sample, "--value=999999").err


def test_column_past_line_end_selects_line(sample: Path) -> None:
    assert run("inspect", sample, "--at", "2:999").out == run("inspect", sample, "--at", "2").out
    assert run("inspect", sample, "--at", f"2:{10**15}").status == 0


def test_truncated_file_is_inspected(sample: Path) -> None:
    data = sample.read_bytes()
    for size in range(100, len(data), 997):
        sample.write_bytes(data[:size])
        result = run("inspect", sample, "--format", "json")
        assert result.status == 0, size
        assert result.json["kind"] == "dump"


def test_invalid_utf8_is_replaced(sample: Path) -> None:
    data = sample.read_bytes().replace(b"jit(_threefry_split)", b"jit(\xff\xfe\xe9)")
    sample.write_bytes(data)
    facts = run("inspect", sample, "--value", "166", "--format", "json").json
    assert facts["op_name"] == "jit(\ufffd\ufffd\ufffd)/jit(main)/slice"
