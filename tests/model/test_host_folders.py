"""The hosts of folders with dumps."""

from pathlib import Path

import pytest

from hlo_lsp.model.host_folders import files_of_other_hosts, host_of, hosts_of, in_order


@pytest.mark.parametrize(
    ("folder", "host"),
    [
        ("dumps/host_3", "host_3"),
        ("dumps/host_3/xla", "host_3"),
        ("gs/t1v-n-1a2b3c-w-12/dump", "t1v-n-1a2b3c-w-12"),
        ("job/worker3", "worker3"),
        ("job/process=7", "process=7"),
        ("job/10.0.0.3", "10.0.0.3"),
        ("pod_1/rank_2", "rank_2"),
        ("before", None),
        ("run_1", None),
        ("v5e", None),
        ("hosts", None),
    ],
)
def test_host_is_the_innermost_folder_of_a_process(folder: str, host: str | None) -> None:
    assert host_of(Path(folder)) == host


@pytest.mark.parametrize(
    ("folders", "hosts"),
    [
        (("d/host_0/xla", "d/host_1/xla"), [("host_0", "xla"), ("host_1", "xla")]),
        (("d/a/xla", "d/b/xla"), [("a", "xla"), ("b", "xla")]),
        (
            ("d/eval/host_0", "d/eval/host_1", "d/train/host_0"),
            [("host_0", "eval"), ("host_1", "eval"), ("host_0", "train")],
        ),
        (("d/x",), [("x", "")]),
    ],
)
def test_rest_of_the_path_is_the_same_for_all_hosts(
    folders: tuple[str, ...], hosts: list[tuple[str, str]]
) -> None:
    assert list(hosts_of(map(Path, folders)).values()) == hosts


@pytest.mark.parametrize(
    ("named", "hosts"),
    [
        (("a/x/host_0", "b/y/host_1"), [("host_0", "xla"), ("host_1", "xla")]),
        (("a/x", "b/y"), [("host_0", "a/x/xla"), ("host_1", "b/y/xla")]),
        (("a/x/host_0/xla", "b/y/host_1/xla"), [("host_0", ""), ("host_1", "")]),
    ],
)
def test_named_folders_of_hosts_can_be_anywhere(
    named: tuple[str, ...], hosts: list[tuple[str, str]]
) -> None:
    folders = [Path("a/x/host_0/xla"), Path("b/y/host_1/xla")]
    assert list(hosts_of(folders, map(Path, named)).values()) == hosts


def test_hosts_are_sorted_by_number() -> None:
    assert in_order(["w-10", "w-9", "a", "w-2"]) == ["a", "w-2", "w-9", "w-10"]


def test_file_of_other_hosts_may_have_another_time(tmp_path: Path) -> None:
    for path in (
        "host_2/xla/17.module_0001.jit_f.txt",
        "host_10/xla/18.module_0001.jit_f.txt",
        "host_9/xla/19.module_0002.jit_g.txt",
        "other/xla/20.module_0001.jit_f.txt",
        "host_1/xla/21.module_0001.jit_f.txt",
    ):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch()
    found = files_of_other_hosts(tmp_path / "host_2" / "xla" / "17.module_0001.jit_f.txt")
    assert [(host, path.name) for host, path in found] == [
        ("host_1", "21.module_0001.jit_f.txt"),
        ("host_10", "18.module_0001.jit_f.txt"),
    ]


def test_file_of_no_host_has_no_others(tmp_path: Path) -> None:
    assert files_of_other_hosts(tmp_path / "run" / "a.txt") == []
