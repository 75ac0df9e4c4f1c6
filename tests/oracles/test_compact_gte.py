"""Tests that a compile has the same facts in both forms of its module text.

Since jaxlib 0.11, XLA leaves out ``get-tuple-element`` instructions and prints ``%tuple#1``. Of
each pair, the text in ``full/`` has these instructions, and so tells what the other one must mean.
What may differ: lines of the module text, and the Python lines of omitted instructions, whose
metadata is not printed.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from checks.checked import check_paths
from cli.command import run
from hlo_lsp.checks.framework.finding import Severity
from hlo_lsp.ide.cursor.find_target import cursor_target_at
from hlo_lsp.ide.hover.hover import hover_card
from hlo_lsp.ide.navigation.definitions import (
    definitions,
    implementations,
    type_definitions,
)
from hlo_lsp.ide.navigation.references import declarations_and_references
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.omitted_instructions import omitted_instructions
from hlo_lsp.model.workspace import DumpWorkspace
from hlo_lsp.reports.memory_map import memory_map

pytestmark = [pytest.mark.corpus, pytest.mark.xdist_group("compact_gte")]

_NAME = r"[A-Za-z_][\w.\-]*"
_DEFINED = re.compile(rf"^\s*(?:ROOT )?%({_NAME}) =", re.MULTILINE)
_SELECTION = re.compile(
    rf"^\s*(?:ROOT )?%({_NAME}) = .*? get-tuple-element\(%({_NAME})\), index=(\d+)", re.MULTILINE
)
_ELEMENT = re.compile(rf"%({_NAME})((?:#\d+)+)")
_WORD = re.compile(rf"(?<![\w.\-%#]){_NAME}")
_MAX_COLUMN = 200  # of lines whose words are looked up


@dataclass(frozen=True)
class Pair:
    """The buffer assignments of one compile in both forms, and their compiles."""

    compact_path: Path
    full_path: Path
    compact: Compile
    full: Compile

    @property
    def module(self) -> DumpFile:
        """Return the module text without ``get-tuple-element``."""
        return next(file for file in self.compact.files if len(file.module.instructions))

    @property
    def omitted(self) -> Mapping[str, str]:
        """Return the element that each omitted name selects, according to the full text."""
        defined = set(_DEFINED.findall(self.module.document.text))
        text = next(f for f in self.full.files if len(f.module.instructions)).document.text
        selected = {name: (holder, number) for name, holder, number in _SELECTION.findall(text)}

        def element(name: str) -> str:
            holder, number = selected[name]
            is_omitted = holder in selected and holder not in defined
            return f"{element(holder) if is_omitted else holder}#{number}"

        return {name: element(name) for name in selected if name not in defined}

    def without_elements(self, text: str) -> str:
        """Return a text with the names of ``get-tuple-element`` instructions for elements."""
        names = omitted_instructions(self.compact).names
        return _ELEMENT_NAME.sub(lambda match: names.get(match[0], (match[0],))[0], text)


_ELEMENT_NAME = re.compile(rf"{_NAME}(?:#\d+)+")


def _read(path: Path) -> Compile:
    workspace = DumpWorkspace()
    return workspace.compile_of(workspace.file(path))


@lru_cache(maxsize=1)
def _pairs(folder: Path) -> list[Pair]:
    paths = sorted((folder / "compact").glob("*/*-buffer-assignment.txt"))
    found = []
    for path in paths:
        full = folder / "full" / path.relative_to(folder / "compact")
        found.append(Pair(path, full, _read(path), _read(full)))
    return found


@pytest.fixture
def pairs(corpus_compact_gte: Path) -> list[Pair]:
    return _pairs(corpus_compact_gte)


def test_check_finds_nothing_in_either_form(corpus_compact_gte: Path) -> None:
    found = [
        (result.path.name, finding)
        for result in check_paths([corpus_compact_gte])
        for finding in result.findings
        if finding.severity in {Severity.ERROR, Severity.WARNING}
    ]
    assert found == []


def test_omitted_names_are_the_elements_of_the_full_text(pairs: list[Pair]) -> None:
    count = 0
    for pair in pairs:
        expected = pair.omitted
        assert omitted_instructions(pair.compact).elements == expected
        assert omitted_instructions(pair.full).elements == {}
        count += len(expected)
    assert count > 200


@pytest.mark.parametrize("command", ["summary", "summary --timeline", "cost --collectives"])
def test_commands_print_the_same(command: str, pairs: list[Pair]) -> None:
    for pair in pairs:
        printed = [
            run(*command.split(), path, "--format", "json").out
            for path in (pair.compact_path, pair.full_path)
        ]
        compact, full = (text.replace("/compact/", "/full/") for text in printed)
        assert pair.without_elements(compact) == full


def test_modules_lists_the_same_compiles(corpus_compact_gte: Path) -> None:
    compact, full = (
        run("modules", corpus_compact_gte / form, "--format", "json").out
        for form in ("compact", "full")
    )
    count = re.compile(r'"instructions": \d+')  # of those that the text has
    assert count.sub("", compact.replace("/compact/", "/full/")) == count.sub("", full)


def test_memory_maps_have_the_same_boxes(pairs: list[Pair]) -> None:
    for pair in pairs:
        assert _map(pair.compact) == _map(pair.full)


def _map(dump: Compile) -> Any:
    """Return a memory map with texts in place of their numbers, without places in the module."""
    found = memory_map(dump)
    strings = found["strings"]
    found["boxes"]["moduleLine"] = found["bands"]["line"] = found["path"] = found["files"] = None
    found["steps"] = [strings[number] for number in found["steps"]]
    # A tuple is kept for an omitted instruction, whose name and line differ.
    kept = {strings[number] for number in found["boxes"].pop("kept")} - set(_used(found))
    for table, keys in (
        ("boxes", {"name", "index", "source", "scope", "operation", "opcode", "owner"}),
        ("bands", {"name", "opcode"}),
        ("allocations", {"kind"}),
    ):
        for key in keys & found[table].keys():
            found[table][key] = [strings[number] for number in found[table][key]]
    return json.loads(json.dumps({**found, "strings": sorted(set(strings) - kept)}))


def _used(found: Any) -> Iterator[str]:
    """Yield the texts of other columns than those of what is kept."""
    strings = found["strings"]
    keys = {"name", "index", "source", "scope", "operation", "opcode", "owner"}
    for key in keys & found["boxes"].keys():
        yield from (strings[number] for number in found["boxes"][key])


def test_diff_of_both_forms_is_empty(pairs: list[Pair]) -> None:
    for pair in pairs:
        assert "no differences" in run("diff", pair.full_path, pair.compact_path).out


@pytest.mark.parametrize(
    ("one", "other"), [("%s#0", "%s#1"), ("index=0", "index=1")], ids=["compact", "full"]
)
def test_diff_shows_another_element(one: str, other: str, tmp_path: Path) -> None:
    operand = f"{one}" if "#" in one else "%g"
    line = "" if "#" in one else f"  %g = f32[8] get-tuple-element(%s), {one}\n"
    text = (
        "HloModule jit_m\n\nENTRY %e {\n  %a = f32[8] parameter(0)\n"
        f'  %s = (f32[8], f32[8]) custom-call(%a), custom_call_target="f"\n{line}'
        f"  ROOT %r = f32[8] negate({operand})\n}}\n"
    )
    for name, content in (("a", text), ("b", text.replace(one, other))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.after_optimizations.txt").write_text(content, "utf-8")
    printed = run("diff", tmp_path / "a", tmp_path / "b").out
    assert "~ r: different elements of tuples" in printed


def test_find_and_why_answer_the_same(pairs: list[Pair]) -> None:
    owners = 0
    for pair in pairs:
        values = (pair.full.value(number) for number in pair.full.value_ids())
        keys = [value.key for value in values if value is not None and value.size]
        for key in keys[:: max(1, len(keys) // 2)]:
            name = key.partition("{")[0]
            for command, what in (("find", (name, "PATH")), ("inspect", ("PATH", key))):
                compact, full = (
                    run(command, *(path if one == "PATH" else one for one in what)).out
                    for path in (pair.compact_path, pair.full_path)
                )
                # Without the description of the instruction, whose computations have fewer lines.
                compact, full = (text.partition("\n\n")[0] for text in (compact, full))
                compact = pair.without_elements(compact).replace("/compact/", "/full/")
                one, other = _lines(compact), _lines(full)
                owners += one != other
                assert [_without_source(each) for each in one] == [
                    _without_source(each) for each in other
                ]
    assert owners <= 6  # the Python line of an omitted instruction


def test_find_knows_omitted_names(pairs: list[Pair]) -> None:
    pair = next(pair for pair in pairs if pair.omitted)
    name = next(iter(pair.omitted))
    compact, full = (
        json.loads(run("find", name, path, "--format", "json").out)
        for path in (pair.compact_path, pair.full_path)
    )
    ((one,), (other,)) = (found["modules"][0]["buffers"] for found in (compact, full))
    unprinted = {"line": 0, "path": "", "source": None}
    assert {**one, **unprinted} == {**other, **unprinted}


def _lines(text: str) -> list[str]:
    """Return the lines of an answer without padding, and without lines of the module text."""
    return [re.sub(r"\.txt:\d+", ".txt", " ".join(line.split())) for line in text.splitlines()]


def _without_source(line: str) -> str:
    """Return a line about a ``get-tuple-element`` without its Python line and phase."""
    return re.sub(r"\(get-tuple-element(, [^)]*)\)", "(get-tuple-element)", line)


# What is replaced by what in which file, and the code that is reported.
_PLANTED = {
    "size": ("-buffer-assignment.txt", r"\(size=(\d+),", "(size=7,", "size-mismatch"),
    "use": ("-values.txt", r", operand 0$", ", operand 1", "use-mismatch"),
    "position": ("-values.txt", r"^  get-tuple-element\.\d+$", "  nobody", "position-mismatch"),
    "step": ("-live-range.txt", r"(?<=:)get-tuple-element\.\d+$", "nobody", "schedule-mismatch"),
    "repeated step": (
        "-live-range.txt",
        r"(?<=:)get-tuple-element\.94$",
        "get-tuple-element.95",
        "schedule-mismatch",
    ),
    "order": ("-live-range.txt", r"(?<=:)copy\.\d+$", "nobody", "schedule-mismatch"),
}


@pytest.mark.parametrize("what", _PLANTED)
def test_planted_error_is_found_in_both_forms(
    what: str, corpus_compact_gte: Path, tmp_path: Path
) -> None:
    suffix, expression, replacement, code = _PLANTED[what]
    stem = "cpu/module_0022.jit_f.cpu_after_optimizations"
    for form in ("compact", "full"):
        folder = tmp_path / form
        folder.mkdir()
        for path in (corpus_compact_gte / form / "cpu").glob(f"{Path(stem).name}*"):
            text = path.read_text("utf-8")
            if path.name.endswith(suffix):
                text, count = re.subn(expression, replacement, text, count=1, flags=re.MULTILINE)
                assert count == 1
            (folder / path.name).write_text(text, "utf-8")
        codes = {one.code for result in check_paths([folder]) for one in result.findings}
        assert code in codes, form


def test_every_element_leads_to_its_tuple(pairs: list[Pair]) -> None:
    count = 0
    for pair in pairs:
        module = pair.module
        for line, text in enumerate(module.lines):
            for match in _ELEMENT.finditer(text):
                count += 1
                for column in (match.start(1), match.end()):  # on the name, and on the number
                    target = cursor_target_at(module, line, column)
                    assert target is not None
                    (place,) = definitions(pair.compact, target)
                    assert re.match(
                        rf"\s*(?:ROOT )?%{re.escape(match[1])} = ", place.file.lines[place.line]
                    )
                    card = hover_card(pair.compact, target)
                    assert card is not None
                    assert card.title.startswith(f"`{match[1]}{match[2]}`")
                    assert type_definitions(pair.compact, target)
                    assert implementations(pair.compact, target)
                    _, mentioned = declarations_and_references(pair.compact, target)
                    assert any(one.file is module and one.line == line for one in mentioned)
    assert count > 200


def test_every_omitted_name_leads_to_its_element(pairs: list[Pair]) -> None:
    count = 0
    for pair in pairs:
        omitted = pair.omitted
        for file, line, column, name in _mentions(pair.compact, omitted):
            count += 1
            target = cursor_target_at(file, line, column)
            assert target is not None
            found = definitions(pair.compact, target)
            assert [place.file for place in found] == [pair.module]
            for origin in implementations(pair.compact, target):
                assert origin.file is pair.module
            card = hover_card(pair.compact, target)
            assert card is not None
            facts = {fact.label: fact.text for fact in card.facts}
            holder, _, number = omitted[name].rpartition("#")
            assert facts["element"].startswith(f"{number} of `{holder}`")
            assert f"`{name}`" in facts["not printed"]
            _, mentioned = declarations_and_references(pair.compact, target)
            assert {pair.module, file} <= {place.file for place in mentioned}
    assert count > 500


def _mentions(dump: Compile, names: Mapping[str, str]) -> Iterator[tuple[DumpFile, int, int, str]]:
    for file in dump.files:
        for line, text in enumerate(file.lines if file.kind.is_memory else ()):
            for match in _WORD.finditer(text[:_MAX_COLUMN]):
                if match[0] in names:
                    yield file, line, match.start() + 1, match[0]
