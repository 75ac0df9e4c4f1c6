"""Python stacks from source location tables, and the line of a stack that owns memory."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.source import (
    FrameChoice,
    SourceFiles,
    SourceLine,
    SourceMap,
    SourceTables,
    is_library_file,
)

_TABLES = """HloModule jit_f

FileNames
1 "/home/user/a.py"
2 "/home/user/b.py"

FunctionNames
1 "<module>"
2 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=10 end_line=10 column=0 end_column=9}
2 {file_name_id=2 function_name_id=2 line=20 end_line=21 column=4 end_column=8}
3 {file_name_id=2 function_name_id=9 line=30 end_line=30 column=4 end_column=8}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=3 parent_frame_id=3}
4 {file_location_id=9 parent_frame_id=2}
5 {file_location_id=2 parent_frame_id=6}


ENTRY %main (a: f32[2]) -> f32[2] {
  ROOT %a = f32[2]{0} parameter(0)
}
"""
_MODULE, _F = SourceLine("/home/user/a.py", 10, "<module>"), SourceLine("/home/user/b.py", 20, "f")


def _tables(text: str = _TABLES) -> SourceTables:
    return DumpFile.of_text(text).module.tables


def test_parent_is_stored_one_too_high() -> None:
    tables = _tables()
    assert [frame.parent for frame in tables.frames] == [None, 1, 2, 1, 5]
    assert list(tables.stack(1)) == [_MODULE]
    assert list(tables.stack(2)) == [_F, _MODULE]


def test_innermost_line_is_first() -> None:
    lines = list(_tables().stack(3))
    assert lines == [SourceLine("/home/user/b.py", 30, None), _F, _MODULE]
    assert str(lines[0]) == "/home/user/b.py:30"


def test_row_position_overrides_printed_number() -> None:
    tables = _tables(_TABLES.replace('2 "/home/user/b.py"', '7 "/home/user/b.py"'))
    assert list(tables.stack(2)) == [_F, _MODULE]


def test_stack_stops_at_missing_row() -> None:
    tables = _tables()
    assert list(tables.stack(0)) == []
    assert list(tables.stack(99)) == []
    assert list(tables.stack(4)) == []


def test_self_parent_frame_is_visited_once() -> None:
    assert list(_tables().stack(5)) == [_F]


def test_tables_precede_computations() -> None:
    tables = _tables(_TABLES + '\nFileNames\n1 "/home/user/c.py"\n')
    assert tables.files == ["/home/user/a.py", "/home/user/b.py"]


@pytest.mark.parametrize("header", ["HloModule jit_f", "HloModule jit f"])
def test_text_without_computations_has_tables(header: str) -> None:
    head = _TABLES.partition("ENTRY")[0].replace("HloModule jit_f", header)
    assert list(_tables(head).stack(2)) == [_F, _MODULE]


def test_tables_after_a_computation_are_ignored() -> None:
    file = DumpFile.of_text(_TABLES)
    assert len(file.module.tables.files) == 2
    file.changed(file.document.edit((1, 0), (1, 0), "%c () -> f32[] {\n"))
    file.refresh()
    assert not any(file.module.tables.rows.values())
    file.changed(file.document.edit((1, 0), (2, 0), ""))
    file.refresh()
    assert len(file.module.tables.files) == 2


HERE = Path("/here").absolute()
COMPONENTS = st.lists(st.text("abc. ", min_size=1).filter(lambda c: c.strip(". ") == c), min_size=1)


def mapped(setting: dict[str, str], name: str) -> list[str]:
    """Return the mapped candidates relative to one folder."""
    source_map, problems = SourceMap.of(setting, HERE.joinpath)
    assert problems == []
    inside = [path for path in source_map.candidates(name) if path.is_relative_to(HERE)]
    return [path.relative_to(HERE).as_posix() for path in inside]


@pytest.mark.parametrize(
    ("setting", "name", "found"),
    [
        ({"/home/user": "src"}, "/home/user/a/b.py", ["src/a/b.py"]),
        ({"/home/user/": "src/"}, "/home/user/a/b.py", ["src/a/b.py"]),
        ({"/home/user/b.py": "src/c.py"}, "/home/user/b.py", ["src/c.py"]),
        ({"/home/us": "src"}, "/home/user/b.py", []),
        ({"/home/user": "src"}, "/home/user2/b.py", []),
        ({"/home/user": "src"}, "/HOME/user/b.py", []),
        ({"home/user": "src"}, "/home/user/b.py", []),
        ({"/": "root"}, "/usr/b.py", ["root/usr/b.py"]),
        ({"/": "root"}, "b.py", []),
        ({"/": "root"}, r"C:\b.py", []),
    ],
)
def test_prefix_covers_whole_components(
    setting: dict[str, str], name: str, found: list[str]
) -> None:
    assert mapped(setting, name) == found


@pytest.mark.parametrize("order", [1, -1])
def test_longest_prefix_wins_alone(order: int) -> None:
    rules = [("/a", "one"), ("/a/b", "two"), ("/a/b/c", "three"), ("/", "all")][::order]
    assert mapped(dict(rules), "/a/b/x.py") == ["two/x.py"]
    assert mapped(dict(rules), "/a/b/c/x.py") == ["three/x.py"]
    assert mapped(dict(rules), "/a/bc/x.py") == ["one/bc/x.py"]


@pytest.mark.parametrize(
    ("prefix", "name", "found"),
    [
        ("C:\\Users\\me", r"C:\Users\me\a\b.py", ["src/a/b.py"]),
        ("C:/Users/me", r"C:\Users\me\a\b.py", ["src/a/b.py"]),
        ("c:\\users\\ME\\", r"C:\Users\me\b.py", ["src/b.py"]),
        ("C:\\", "C:/a/b.py", ["src/a/b.py"]),
        ("D:\\", "C:/a/b.py", []),
        (r"\\server\share", r"\\server\share\a\b.py", ["src/a/b.py"]),
        ("C:\\Users", "/Users/b.py", []),
    ],
)
def test_dumps_from_windows(prefix: str, name: str, found: list[str]) -> None:
    assert mapped({prefix: "src"}, name) == found


@pytest.mark.parametrize(
    ("prefix", "name", "found"),
    [
        ("models", "models/a.py", ["src/a.py"]),
        ("./models", "models/a.py", ["src/a.py"]),
        ("models", r"models\a\b.py", ["src/a/b.py"]),
        (".", "models/a.py", ["src/models/a.py"]),
        ("", "a.py", ["src/a.py"]),
        (".", "/models/a.py", []),
    ],
)
def test_relative_names(prefix: str, name: str, found: list[str]) -> None:
    assert mapped({prefix: "src"}, name) == found


def test_absolute_name_is_the_last_candidate() -> None:
    name = str(HERE / "a.py")
    elsewhere = HERE.parent / "there"
    source_map, _ = SourceMap.of({str(HERE): str(elsewhere)})
    assert source_map.candidates(name) == [elsewhere / "a.py", HERE / "a.py"]
    assert SourceMap().candidates(name) == [HERE / "a.py"]
    assert SourceMap().candidates("a.py") == []


@pytest.mark.parametrize("setting", ["x", 3, True, ["/a", "/b"], [{}]])
def test_setting_of_wrong_type_does_not_raise(setting: object) -> None:
    assert SourceMap.of(setting) == (
        SourceMap(),
        ['must be an object {"path in the dump": "local path"}'],
    )


@pytest.mark.parametrize("setting", [None, {}, []])
def test_empty_setting_is_right(setting: object) -> None:
    assert SourceMap.of(setting) == (SourceMap(), [])


@pytest.mark.parametrize("target", [None, 3, True, [], {}])
def test_wrong_entry_breaks_itself_only(target: object) -> None:
    source_map, problems = SourceMap.of({"/a": target, "/b": "/x"})
    assert source_map.rules == (("/b", Path("/x")),)
    assert problems == ['the value for "/a" must be a path in quotes']


def test_unresolvable_path_is_reported() -> None:
    source_map, problems = SourceMap.of({"/a": "x"}, lambda _: None)
    assert source_map == SourceMap()
    assert problems == ['cannot resolve the path "x" for "/a"']
    assert SourceMap.of({"/a": ""})[1] == ['cannot resolve the path "" for "/a"']


@given(COMPONENTS, COMPONENTS)
def test_path_after_the_prefix_is_kept(prefix: list[str], rest: list[str]) -> None:
    start = "/" + "/".join(prefix)
    source_map, _ = SourceMap.of({start: str(HERE)})
    assert source_map.candidates(f"{start}/{'/'.join(rest)}")[0] == HERE.joinpath(*rest)


@given(st.text())
def test_arbitrary_names_do_not_fail(name: str) -> None:
    files = SourceFiles(SourceMap.of({"": "/no/such/folder", "/": "/no/such/folder"})[0])
    assert files.resolve("/no/such/folder/" + name) is None


def test_file_is_found_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "my model.py").write_text("")
    (tmp_path / "folder.py").mkdir()
    files = SourceFiles(SourceMap.of({"/home/user": str(tmp_path)})[0])
    assert files.resolve("/home/user/my model.py") == tmp_path / "my model.py"
    assert files.resolve(str(tmp_path / "my model.py")) == tmp_path / "my model.py"
    assert files.resolve("/home/user/other.py") is None
    assert files.resolve("/home/user/folder.py") is None
    uri = f"{tmp_path.as_uri()}/my%20model.py#L7"
    assert files.uri(SourceLine("/home/user/my model.py", 7)) == uri
    assert files.uri(SourceLine("/home/user/other.py", 7)) is None


def test_printed_path_is_the_fallback(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("")
    files = SourceFiles(SourceMap.of({str(tmp_path): str(tmp_path / "moved")})[0])
    assert files.resolve(str(tmp_path / "model.py")) == tmp_path / "model.py"


def test_source_files_are_looked_up_once_per_request(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    files = SourceFiles(SourceMap())
    assert files.resolve(str(path)) is None
    path.write_text("")
    assert files.resolve(str(path)) is None
    assert SourceFiles(SourceMap()).resolve(str(path)) == path


@pytest.mark.parametrize(
    "name",
    [
        r"\\host\share\a.py", "//host/share/a.py", r"\\?\UNC\host\share\a.py", "/net/host/a.py",
        "/home/../net/host/a.py", "///net/host/a.py", "/Network/Servers/host/a.py",
    ],
)  # fmt: skip
def test_network_path_is_never_looked_up(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "isfile", pytest.fail)
    assert SourceFiles(SourceMap()).resolve(name) is None


@pytest.mark.parametrize("name", ["/src/../a.py", "/src/b/../../../net/host/a.py"])
def test_mapped_path_stays_in_its_folder(name: str) -> None:
    source_map, _ = SourceMap.of({"/src": str(HERE)})
    assert not [path for path in source_map.candidates(name) if path.is_relative_to(HERE)]


_FLAX = SourceLine("/usr/lib/python3.12/site-packages/flax/linen/linear.py", 9)
_HELPER = SourceLine("/home/user/helpers/ops.py", 3)
_MODEL = SourceLine("/home/user/model/train.py", 7)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("/opt/venv/lib/python3.11/site-packages/optax/update.py", True),
        ("C:\\Python312\\Lib\\functools.py", True),
        ("/usr/lib/python3.12/functools.py", True),
        ("<frozen importlib._bootstrap>", True),
        ("/home/user/site/train.py", False),
        ("train.py", False),
        ("<ipython-input-1>", False),
    ],
)
def test_library_files_are_recognized(file: str, expected: bool) -> None:
    assert is_library_file(file) is expected


def test_library_frames_are_skipped() -> None:
    assert FrameChoice().line_of([_FLAX, _HELPER, _MODEL]) is _HELPER


def test_all_frames_can_be_chosen() -> None:
    assert FrameChoice(with_libraries=True).line_of([_FLAX, _MODEL]) is _FLAX


def test_frames_of_the_workspace_are_preferred() -> None:
    choice = FrameChoice(("/home/user/model/",))
    assert choice.line_of([_FLAX, _HELPER, _MODEL]) is _MODEL
    assert choice.line_of([_FLAX, _HELPER]) is _HELPER


def test_innermost_frame_remains_without_others() -> None:
    assert FrameChoice().line_of([_FLAX]) is _FLAX
    assert FrameChoice().line_of([]) is None
