"""The fields of the metadata of instructions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.syntax.grammar import load_grammar
from hlo_lsp.syntax.metadata_text import metadata_fields, unescape
from marks import mark
from syntax.rules import by_expression, by_lark


def read(line: str, at: int = 0) -> dict[str, str]:
    return {field.name: field.value for field in metadata_fields(line, at)}


def test_fields_have_their_values_and_columns() -> None:
    marked = mark(
        """
        %a = f32[] add(%b, %c), metadata={op_name="jit(f)/add" source_file="/m.py" source_line=7}
                                          ^^^^^^^^^^^^^^^^^^^^ op_name             ^^^^^^^^^^^^^ source_line
                                                               ^^^^^^^^^^^^^^^^^^^ source_file
        """  # noqa: E501
    )
    found = {field.name: field for field in metadata_fields(marked.text)}
    assert list(found) == ["op_name", "source_file", "source_line"]
    assert {name: (f.start, f.end) for name, f in found.items()} == {
        name: (place.start, place.end) for name, place in marked.marks.items()
    }
    assert [f.value for f in found.values()] == ["jit(f)/add", "/m.py", "7"]


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("metadata={stack_frame_id=4}", {"stack_frame_id": "4"}),
        ("metadata={ stack_frame_id=4 }", {"stack_frame_id": "4"}),
        ("metadata={a=1, b=2}", {"a": "1", "b": "2"}),
        ('metadata={profile_type={1,2} op_name=""}', {"profile_type": "{1,2}", "op_name": ""}),
        ('metadata={op_name="}" source_line=2}', {"op_name": "}", "source_line": "2"}),
        (r'metadata={op_name="\"x\"" a=1}', {"op_name": '"x"', "a": "1"}),
        ("metadata={}", {}),
        ("metadata={", {}),
        ("metadata={a=1 ~~ b=2}", {"a": "1"}),
        ("metadata=", {}),
        ("xmetadata={a=1}", {}),
    ],
)
def test_all_metadata_fields(text: str, fields: dict[str, str]) -> None:
    assert read(f"  ROOT %x = f32[] add(%a, %b), {text}") == fields
    assert read(text) == fields


@pytest.mark.parametrize(
    "string", ['", metadata={a=1}"', r'"\", metadata={a=1}"', r'"\\\" metadata={"']
)
def test_string_may_contain_the_same_words(string: str) -> None:
    line = f"%x = f32[] custom-call(), frontend_attributes={{k={string}}}"
    assert read(line) == {}
    assert read(f"{line}, metadata={{b=2}}") == {"b": "2"}
    assert read(f"%x = f32[] add(), metadata={{b=2}}, backend_config={string}") == {"b": "2"}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (r"C:\\Users\\me.py", r"C:\Users\me.py"),
        (r"a\"b\'c\n\r\t", "a\"b'c\n\r\t"),
        (r"/home/\303\251/\346\250\241.py", "/home/é/模.py"),
        (r"\xc3\xa9", "é"),
        (r"\377", "\N{REPLACEMENT CHARACTER}"),
        ("/home/é.py", "/home/é.py"),
        ("\\", "\\"),
    ],
)
def test_escapes(text: str, meant: str) -> None:
    assert unescape(text) == meant


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_absl_escapes_are_read(text: str) -> None:
    letters = {10: r"\n", 13: r"\r", 9: r"\t", 34: r"\"", 39: r"\'", 92: r"\\"}
    escaped = "".join(
        letters.get(byte, chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
        for byte in text.encode()
    )
    assert unescape(escaped) == text
    assert read(f'metadata={{op_name="{escaped}" a=1}}') == {"op_name": text, "a": "1"}


@given(st.text('metadata={} ",\\a1'))
def test_arbitrary_lines_do_not_fail(line: str) -> None:
    for field in metadata_fields(line):
        assert line[field.start : field.end].startswith(f"{field.name}=")


@pytest.mark.parametrize("field", ["a=1", 'a="b c"', "a={1,2}", "a=-1", "a=b.c"])
def test_lark_reads_the_same(field: str) -> None:
    grammar = load_grammar("metadata")
    assert by_expression(grammar, "metadata_field", field) == by_lark(
        grammar, "metadata_field", field
    )
