"""Python stacks from source location tables."""

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.source import SourceLine, SourceTables

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


def test_a_parent_is_stored_one_too_high() -> None:
    tables = _tables()
    assert [frame.parent for frame in tables.frames] == [None, 1, 2, 1, 5]
    assert list(tables.stack(1)) == [_MODULE]
    assert list(tables.stack(2)) == [_F, _MODULE]


def test_the_innermost_line_is_first() -> None:
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


def test_a_module_without_tables_has_no_stacks() -> None:
    tables = _tables("HloModule m\n\nENTRY %main () -> f32[] {\n  ROOT %a = f32[] constant(1)\n}\n")
    assert not any(tables.rows.values())
    assert list(tables.stack(1)) == []


def test_tables_precede_computations() -> None:
    tables = _tables(_TABLES + '\nFileNames\n1 "/home/user/c.py"\n')
    assert tables.files == ["/home/user/a.py", "/home/user/b.py"]


def test_tables_after_a_computation_are_ignored() -> None:
    file = DumpFile.of_text(_TABLES)
    assert len(file.module.tables.files) == 2
    file.changed(file.document.edit((1, 0), (1, 0), "%c () -> f32[] {\n"))
    file.refresh()
    assert not any(file.module.tables.rows.values())
    file.changed(file.document.edit((1, 0), (2, 0), ""))
    file.refresh()
    assert len(file.module.tables.files) == 2
