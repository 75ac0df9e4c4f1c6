"""Tests for names with markup and commands, which all outputs show as text."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.command import run
from e2e.compiles import Compile, copy_dump
from hostile.editor import Editor, all_requests
from hostile.payload import with_payload

pytestmark = pytest.mark.xdist_group("inert_text")  # shares the results of all requests

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def files(corpus_small: Path, tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Return a compile whose scopes and source files are the payload."""
    compile_ = copy_dump(corpus_small, "tpu", tmp_path_factory.mktemp("inert") / "dump")
    for path in compile_.files:
        path.write_text(with_payload(path.read_text("utf-8")), "utf-8")
    return compile_


COMMANDS = {
    "summary": ["summary"],
    "Markdown summary": ["summary", "--format", "markdown"],
    "timeline": ["timeline"],
    "find": ["find", "%0A::warning::z"],
    "modules": ["modules"],
    "check": ["check"],
    "check with advice": ["check", "--select", "all"],
    "JSON": ["check", "--format", "json"],
    "SARIF": ["check", "--format", "sarif", "--select", "all"],
    "inspect": ["inspect", "--format", "text"],
    "why": ["why", "fusion.9"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_print_inert_text(files: Compile, name: str) -> None:
    command, *more = COMMANDS[name]
    path = files.assignment if command == "inspect" else files.folder
    result = run(command, *more, path)
    for text in (result.out, result.err):
        assert _CONTROL.search(text) is None
        assert not [line for line in text.split("\n") if line.lstrip().startswith("::")]
        assert "##[" not in text or name in {"JSON", "SARIF"}
        assert "##vso[" not in text or name in {"JSON", "SARIF"}


def test_github_output_has_own_commands_only(files: Compile) -> None:
    result = run("check", "--format", "github", "--select", "all", files.folder)
    assert _CONTROL.search(result.out) is None
    for line in result.out.splitlines():
        assert re.match(r"::(?:error|warning|notice) file=[^:]*::", line)


def test_report_page_has_own_elements_only(files: Compile, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run("report", files.folder, "-o", page)
    text = page.read_text("utf-8")
    assert "onerror=alert" in text
    assert "<img src" not in text
    assert text.count("</script") == text.count("<script")


@pytest.mark.parametrize("command", ["summary", "diff"])
def test_markdown_reports_have_own_elements_only(files: Compile, command: str) -> None:
    paths = [files.folder]
    if command == "diff":
        paths.append(shutil.copytree(files.folder, files.folder.with_name("other")))
        for path in paths[1].iterdir():
            text = path.read_text("utf-8")
            path.write_text(re.sub(r"\(size=(\d{4,}),", r"(size=9\1,", text), "utf-8")
    text = run(command, "--format", "markdown", *paths).out
    assert "onerror=alert" in text
    renderer = pytest.importorskip("markdown_it").MarkdownIt("gfm-like", {"linkify": False})
    assert not re.search("<(?:a|img|script)|href|src=[^x]", renderer.render(text))


@pytest.fixture(scope="module")
def results(files: Compile) -> Iterator[list[tuple[str, Any]]]:
    """Yield the results of all requests about the files, each with its method."""
    editor = Editor()
    found: list[tuple[str, Any]] = []
    for path in (files.module, files.assignment, files.live_range):
        text = path.read_text("utf-8")
        document = {"uri": path.as_uri(), "languageId": "hlo", "version": 1, "text": text}
        editor.notify("textDocument/didOpen", {"textDocument": document})
        for method, params in all_requests(path.as_uri(), text):
            found.append((method, editor.request(method, params).get("result")))
        for line in range(0, text.count("\n"), 7):
            column = text.split("\n")[line].find("metadata")
            where = {"line": line, "character": max(column, 0) + 12}
            params = {"textDocument": {"uri": path.as_uri()}, "position": where}
            reply = editor.request("textDocument/hover", params)
            found.append(("textDocument/hover", reply.get("result")))
    yield found
    editor.close()


def markdown_texts(result: Any) -> Iterator[str]:
    """Yield the Markdown texts in a result."""
    if isinstance(result, list):
        for item in result:
            yield from markdown_texts(item)
    elif isinstance(result, dict):
        if result.get("kind") == "markdown":
            yield result["value"]
        for item in result.values():
            yield from markdown_texts(item)


def test_markdown_has_links_to_files_only(results: list[tuple[str, Any]]) -> None:
    renderer = pytest.importorskip("markdown_it").MarkdownIt("gfm-like", {"linkify": False})
    found = [text for _, result in results for text in markdown_texts(result)]
    assert any("evil" in text for text in found)
    for text in found:
        assert not re.search(r'(?:href|src)="(?!file:)', renderer.render(text))


DISPLAYED_METHODS = (
    "hover",
    "codeLens",
    "inlayHint",
    "documentSymbol",
    "completion",
    "signatureHelp",
)


@pytest.mark.parametrize("method", DISPLAYED_METHODS)
def test_results_have_no_control_characters(results: list[tuple[str, Any]], method: str) -> None:
    shown = [result for name, result in results if name == f"textDocument/{method}"]
    text = json.dumps(shown, ensure_ascii=False)
    assert _CONTROL.search(text) is None
    assert "\\u00" not in text  # an escape of JSON
