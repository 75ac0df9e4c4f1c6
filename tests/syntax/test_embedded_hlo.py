"""HLO texts in Python, C++, and Markdown: their lines and columns, and which are complete."""

from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlo_lsp.syntax.embedded_hlo import (
    HostLanguage,
    embedded_sections,
    language_of_id,
    language_of_path,
)

_MODULE = "HloModule m\n\nENTRY e {\n  ROOT p = f32[8] parameter(0)\n}\n"
_CPP, _MARKDOWN, _PYTHON = HostLanguage.CPP, HostLanguage.MARKDOWN, HostLanguage.PYTHON


def found(text: str, language: HostLanguage) -> list[tuple[list[str], bool]]:
    """Return the lines of each section without blanks around them, and whether it is whole."""
    lines = text.split("\n")
    return [
        ("\n".join(section.text(lines)).strip().split("\n"), section.is_whole)
        for section in embedded_sections(lines, language)
    ]


HLO = _MODULE.strip().split("\n")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (_CPP, f'auto m = Parse(R"({_MODULE})");\n'),
        (_CPP, f'const char* const kHlo = R"hlo(\n{_MODULE})hlo";\n'),
        (_CPP, f'Check(R"(x)", R"(\n{_MODULE})");'),
        (_PYTHON, f'text = """{_MODULE}"""\n'),
        (_PYTHON, f"text = r'''\n{_MODULE}'''\n"),
        (_PYTHON, f'text = """\\\n{_MODULE}"""\n'),
        (_PYTHON, f'# It\'s a comment\nx = \'"""\'\ny = b"""{_MODULE}"""'),
        (_MARKDOWN, f"Text:\n\n```hlo\n{_MODULE}```\n"),
        (_MARKDOWN, f"- item\n\n  ~~~ hlo title=x\n{_MODULE}  ~~~\n"),
        (_MARKDOWN, f"```mlir\n{_MODULE}```\n"),
        (_MARKDOWN, f"```\n{_MODULE}```\n"),
    ],
)
def test_module_is_found(language: HostLanguage, text: str) -> None:
    assert found(text, language) == [(HLO, True)]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (_CPP, '// R"(\nauto m = "HloModule";\n'),
        (_CPP, f'Parse(R"({_MODULE}'),
        (_CPP, 'EXPECT_EQ(x, R"(HloModule m)");'),
        (_CPP, 'R"(\nCHECK: HloModule m\n)"'),
        (_PYTHON, f'f"""{_MODULE}"""'),
        (_PYTHON, f'"""{_MODULE} \\n"""'),
        (_PYTHON, f'# """\n{_MODULE}# """\n'),
        (_PYTHON, 'x = "HloModule m"\n'),
        (_MARKDOWN, f"```python\n{_MODULE}```\n"),
        (_MARKDOWN, f"```hlo\n{_MODULE}"),
        (_MARKDOWN, "The `HloModule` is\n```\nx\n```\n"),
    ],
)
def test_other_text_is_not_found(language: HostLanguage, text: str) -> None:
    assert found(text, language) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("f32[8]", "$0[8]"),
        ("f32[8]", "<<TYPE>>[8]"),
        ("f32[8]", "TYPE[8]"),
        ("f32[8]", "f32[%d]"),
        ("f32[8]", "f32[2,SIZE]"),
        ("f32[8]", "%s[8]"),
        ("parameter(0)", "parameter(0), %s sharding={replicated}"),
        ("  ROOT", "  %s\n  ROOT"),
        ("  ROOT", "  OTHER_ATTRIBUTES\n  ROOT"),
        ("}\n", ""),
        ("\n}", "}"),
        ("ENTRY e {\n", "ENTRY e\n{\n"),
        ("ENTRY", "a = f32[] constant(1) ROOT b = f32[] negate(a)\n\nENTRY"),
        ("HloModule m\n", ""),
        ("(0)", '(0), backend_config="{\n}"'),
        ("(0)", "(0), to_apply={\n  ROOT a = f32[] constant(1)\n  }"),
        ("f32[8] parameter", "f32[8]parameter"),
    ],
)
def test_incomplete_module_is_not_whole(old: str, new: str) -> None:
    assert [whole for _, whole in found(f'R"({_MODULE.replace(old, new, 1)})"', _CPP)] == [False]


@pytest.mark.parametrize(
    "text",
    [
        _MODULE.replace("(0)", '(0), metadata={op_name="$0 <<"}'),
        _MODULE.replace("(0)", "(0) // CHECK: $0 {"),
        _MODULE.replace("(0)", "(0), sharding={mesh['a'=4], [{'a'}]}"),
        _MODULE.replace("(0)", "(0), sharding={\n  replicated\n  }"),
        _MODULE.replace("HloModule m", "HloModule TEST"),
        _MODULE.replace("ENTRY e", "ENTRY %e (p: f32[8]) -> f32[8]"),
        _MODULE.replace("ENTRY ", ""),
        _MODULE.replace("parameter(0)", "map(%s,\n    %d), to_apply=%f"),
    ],
)
def test_printed_and_written_modules_are_whole(text: str) -> None:
    assert [whole for _, whole in found(f'R"({text})"', _CPP)] == [True]


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        (_CPP, 'absl::StrFormat(R"(', ')", 8)'),
        (_CPP, 'absl::Substitute(\n    R"(', ')", 8)'),
        (_PYTHON, '"""', '""" % 8'),
        (_PYTHON, '"""', '""".format(n=8)'),
    ],
)
def test_formatted_module_is_not_whole(language: HostLanguage, before: str, after: str) -> None:
    assert found(f"{before}{_MODULE}{after}", language) == [(HLO, False)]


def test_texts_on_one_line_do_not_overlap() -> None:
    lines = f'f(R"({_MODULE})", R"({_MODULE})");'.split("\n")
    first, second = embedded_sections(lines, _CPP)
    assert second.first == first.first + first.count - 1
    assert (first.text(lines)[-1], second.text(lines)[0]) == ("", " " * 7 + "HloModule m")
    assert first.contains(second.first, 0)
    assert not first.contains(second.first, 4)
    assert second.contains(second.first, 7)


@given(st.text(alphabet="aR\"'()\\\n#`h{}% ", max_size=60), st.sampled_from(HostLanguage))
def test_characters_keep_their_places(noise: str, language: HostLanguage) -> None:
    lines = f'{noise}R"({_MODULE})"\n```hlo\n{_MODULE}\n```\n"""{_MODULE}"""'.split("\n")
    end = (0, 0)
    for section in embedded_sections(lines, language):
        text = section.text(lines)
        assert (section.first, section.start) >= end
        end = (section.first + section.count - 1, section.start + len(text[-1]))
        for number, line in enumerate(text, section.first):
            start = section.start if number == section.first else 0
            assert not line[:start].strip()
            assert lines[number].startswith(line[start:], start)


def test_languages_have_ids_and_suffixes() -> None:
    assert language_of_id("cuda-cpp") is language_of_path(PurePath("a_test.cc")) is _CPP
    assert language_of_id("python") is language_of_path(PurePath("a.py")) is _PYTHON
    assert language_of_id("hlo") is language_of_path(PurePath("a.hlo")) is None
