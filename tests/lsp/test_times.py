"""Tests for the times of programs in a session: profiles, and costs of large compiles."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from hlo_lsp.checks.framework.options import CheckOptions
from hlo_lsp.lsp import code_lenses, inlay_hints, stats_pages, times
from hlo_lsp.lsp.client import Client
from hlo_lsp.lsp.commands import inspect_place
from hlo_lsp.lsp.custom_requests import CompilePlace
from hlo_lsp.lsp.hottest import answer_hottest, load_profile
from hlo_lsp.lsp.hover import hover
from hlo_lsp.lsp.loading import SessionListener
from hlo_lsp.lsp.memory_map import answer_memory_map
from hlo_lsp.lsp.progress import RequestFailedError
from hlo_lsp.lsp.session import Session
from hlo_lsp.lsp.settings import Settings
from lsp.opened import item
from stats.test_measured_programs import MODULE, written_profile


class Listener(SessionListener):
    """A listener that keeps what a session reports."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.computed = 0

    def times_computed(self) -> None:
        self.computed += 1

    def problem_found(self, message: str) -> None:
        self.problems.append(message)


class TimesHarness:
    """A session with a module text in a folder."""

    def __init__(self, folder: Path, text: str = MODULE) -> None:
        self.path = folder / "module_0003.m.cpu_after_optimizations.txt"
        self.path.write_text(text, "utf-8")
        self.uri = self.path.as_uri()
        self.session = Session()
        self.listener = self.session.listener = Listener()
        self.session.open(item(self.uri, text))

    async def wait(self) -> None:
        """Wait for the profiles of the dump."""
        await self.session.times.wait([self.path])

    async def hover(self, name: str = "%neg") -> str:
        lines = MODULE.split("\n")
        line = next(number for number, text in enumerate(lines) if f"{name} =" in text)
        at = types.Position(line, lines[line].index(name) + 1)
        document = types.TextDocumentIdentifier(self.uri)
        found = await self.session.answer_at(
            document, line, at.character, lambda context: hover(context, at)
        )
        assert found[0] is not None
        assert isinstance(found[0].contents, types.MarkupContent)
        return found[0].contents.value

    async def lens_titles(self) -> list[str]:
        document = types.TextDocumentIdentifier(self.uri)
        (lenses,) = await self.session.answer_each(document, code_lenses.code_lenses)
        titles = []
        for lens in lenses:
            start = types.Position(lens["range"]["start"]["line"], 0)
            resolved = await code_lenses.resolve(
                self.session, types.CodeLens(types.Range(start, start), None, lens["data"])
            )
            assert resolved is not None
            assert resolved.command is not None
            titles.append(resolved.command.title)
        return titles

    async def hints(self) -> list[tuple[str, str]]:
        """Return the labels of times with their tooltips."""
        span = types.Range(types.Position(0, 0), types.Position(100, 0))
        params = types.InlayHintParams(types.TextDocumentIdentifier(self.uri), span)
        found = await inlay_hints.inlay_hints(self.session, params) or []
        labels = []
        for hint in found:
            if hint["data"]["kind"] == "times":
                position = types.Position(**hint["position"])
                shown = types.InlayHint(position, hint["label"], data=hint["data"])
                tooltip = (await inlay_hints.resolve(self.session, shown)).tooltip
                labels.append((hint["label"], str(tooltip)))
        return labels

    async def hottest(self) -> Any:
        return await answer_hottest(self.session, CompilePlace(self.uri, 0))


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read profiles in this process, because starting another one takes a second."""

    async def run(work: Callable[[], object]) -> object:
        return work()

    for user in (times, stats_pages):
        monkeypatch.setattr(user, "run_in_process", run)


async def test_profile_beside_a_dump_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # in a process of its own
    harness = TimesHarness(tmp_path)
    written_profile(tmp_path / "host.xplane.pb", dot=10, neg=30)
    assert "measured" not in await harness.hover()
    await harness.wait()
    assert "- **measured** 30.0 µs a run (75.0% of own times)" in await harness.hover()
    assert await harness.lens_titles() == [
        "40.0 µs measured, median of 2 runs",
        "4 instructions, 40.0 µs a run (100% of own times)",
    ]
    assert [label for label, _ in await harness.hints()] == ["10.0 µs, 25%", "30.0 µs, 75%"]
    assert (await harness.hints())[1][1].endswith("measured: 30.0 µs a run (75.0% of own times)")
    assert harness.listener.problems == []


async def test_setting_names_a_profile(tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    written_profile(folder / "host.xplane.pb", neg=20)
    harness = TimesHarness(tmp_path)
    harness.session.settings = Settings(profile=folder)
    await harness.hover()
    await harness.wait()
    assert "measured** 20.0 µs a run" in await harness.hover()


@pytest.mark.parametrize("content", [b"", b"no profile"])
async def test_foreign_profile_is_reported_once(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "host.xplane.pb").write_bytes(content)
    harness = TimesHarness(tmp_path)
    for _ in range(2):
        await harness.hover()
        await harness.wait()
    (problem,) = harness.listener.problems
    assert problem.startswith(f"{tmp_path / 'host.xplane.pb'}: not a profile")


async def test_truncated_profile_is_read_and_reported(tmp_path: Path) -> None:
    path = written_profile(tmp_path / "host.xplane.pb", neg=20)
    path.write_bytes(path.read_bytes()[:-3])
    harness = TimesHarness(tmp_path)
    await harness.wait()
    (problem,) = harness.listener.problems
    assert "host.xplane.pb" in problem
    assert "measured" in await harness.hover()


async def test_changed_profile_is_read_again(tmp_path: Path) -> None:
    path = written_profile(tmp_path / "host.xplane.pb", neg=20)
    harness = TimesHarness(tmp_path)
    await harness.wait()
    written_profile(path, neg=20, dot=2000)
    harness.session.times.profiles.look_again()
    await harness.wait()
    assert "20.0 µs a run (1.0% of own times)" in await harness.hover()


async def test_loaded_profile_precedes_others(tmp_path: Path) -> None:
    written_profile(tmp_path / "host.xplane.pb", neg=20)
    harness = TimesHarness(tmp_path)
    await harness.wait()
    loaded = written_profile(tmp_path / "loaded.xplane.pb", neg=50)
    text = await load_profile(harness.session, loaded, harness.uri)
    assert text == "m · 2 runs on CPU 0 · median 50.0 µs (50.0 µs to 50.0 µs)"
    assert "measured** 50.0 µs a run" in await harness.hover()


async def test_loaded_profile_of_another_program_says_so(tmp_path: Path) -> None:
    loaded = written_profile(tmp_path / "loaded.xplane.pb", fusion=50)
    harness = TimesHarness(tmp_path)
    text = await load_profile(harness.session, loaded, harness.uri)
    assert text.endswith("\nno run of the open dump of m")
    with pytest.raises(RequestFailedError, match="No such file"):
        await load_profile(harness.session, tmp_path / "missing.xplane.pb", None)


async def test_hottest_instructions_and_lines(tmp_path: Path) -> None:
    written_profile(tmp_path / "host.xplane.pb", dot=10, neg=30, add=40)
    found = await TimesHarness(tmp_path).hottest()
    assert found["title"] == "m · 80.0 µs measured, median of 2 runs"
    assert [(one["name"], one["text"]) for one in found["instructions"]] == [
        ("add", "40.0 µs, 50% · add · train.py:7"),
        ("neg", "30.0 µs, 38% · negate · train.py:8"),
        ("dot", "10.0 µs, 12% · dot · train.py:7"),
    ]
    assert [(one["name"], one["text"]) for one in found["lines"]] == [
        ("train.py:7", "50.0 µs, 62%"),
        ("train.py:8", "30.0 µs, 38%"),
    ]
    # The Python file is not on this machine.
    assert found["lines"][0]["location"] == found["instructions"][0]["location"]


async def test_hottest_phases_and_exposed_communication(tmp_path: Path) -> None:
    text = MODULE.replace("negate(%dot)", "all-reduce(%dot), replica_groups={}")
    text = text.replace("%neg", "%all-reduce").replace(
        "metadata={", 'metadata={op_name="jit(m)/jvp()/dot" ', 1
    )
    durations: dict[str, Any] = {"dot": 10, "all-reduce": 30, "add": 40}
    written_profile(tmp_path / "host.xplane.pb", **durations)
    harness = TimesHarness(tmp_path, text)
    found = await harness.hottest()
    assert [(one["name"], one["text"]) for one in found["phases"]] == [
        ("other", "70.0 µs, 88%"),
        ("forward", "10.0 µs, 12%"),
        ("exposed communication", "30.0 µs, 38% of a run"),
    ]
    assert found["phases"][0]["location"] == found["instructions"][0]["location"]


async def test_time_lens_opens_the_time_summary(tmp_path: Path) -> None:
    written_profile(tmp_path / "host.xplane.pb", neg=30)
    harness = TimesHarness(tmp_path)
    harness.session.client = Client(can_show_time=True, has_eager_lenses=True)
    await harness.wait()
    document = types.TextDocumentIdentifier(harness.uri)
    (lenses,) = await harness.session.answer_each(document, code_lenses.code_lenses)
    assert lenses[0]["command"] == {
        "title": "30.0 µs measured, median of 2 runs",
        "command": "hlo.timeSummary",
        "arguments": [harness.uri, 0],
    }


async def test_inspect_waits_for_the_profile(tmp_path: Path) -> None:
    written_profile(tmp_path / "host.xplane.pb", dot=10, neg=30)
    harness = TimesHarness(tmp_path)
    line = next(number for number, text in enumerate(MODULE.split("\n")) if "%neg =" in text)
    text = await inspect_place(harness.session, harness.uri, types.Position(line, 3))
    assert "30.0 µs a run (75.0% of own times)" in text


async def test_time_summary_waits_for_the_profile(tmp_path: Path) -> None:
    written_profile(tmp_path / "host.xplane.pb", dot=10, neg=30)
    harness = TimesHarness(tmp_path)
    text = await stats_pages.summarize_time(harness.session, harness.uri, 0)
    assert "| train.py:8 | 30.0 µs | 75%" in text.replace("\N{NO-BREAK SPACE}", " ")


async def test_compared_profiles_show_what_got_slower(tmp_path: Path) -> None:
    paths = [
        written_profile(tmp_path / f"{name}.xplane.pb", neg=duration)
        for name, duration in (("before", 20), ("after", 30))
    ]
    uris = [path.as_uri() for path in paths]
    text = await stats_pages.compare_profile_files(Session(), *uris)
    assert "- Median 20.0 µs → 30.0 µs (+10.0 µs, +50.0%)" in text
    assert f"- Before: `{paths[0]}`" in text
    with pytest.raises(RequestFailedError, match="No such file"):
        await stats_pages.compare_profile_files(Session(), uris[0], f"{uris[1]}.gz")


async def test_unknown_time_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RequestFailedError, match="load a profile of it or, for a TPU or GPU"):
        await TimesHarness(tmp_path).hottest()


async def test_chip_of_another_backend_does_not_apply(tmp_path: Path) -> None:
    harness = TimesHarness(tmp_path)
    harness.session.settings = Settings(check=CheckOptions(chip="v5e"))
    assert "at least" not in await harness.hover()


async def test_cost_of_a_large_compile_is_computed_in_the_background(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(times, "needs_preparation", lambda _: True)
    harness = TimesHarness(tmp_path)
    assert "**cost**" not in await harness.hover()
    while not harness.listener.computed:
        await asyncio.sleep(0)
    assert "**cost**" in await harness.hover()


async def test_request_about_a_small_compile_computes_no_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = TimesHarness(tmp_path)

    def compute(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(times, "program_table", compute)
    document = types.TextDocumentIdentifier(harness.uri)
    assert await harness.session.answer_at(document, 0, None, lambda _: 1) == [1]


async def test_memory_map_has_the_time_of_a_profile_beside_the_dump(tmp_path: Path) -> None:
    harness = TimesHarness(tmp_path)
    written_profile(tmp_path / "host.xplane.pb", dot=10, neg=30)
    found = await answer_memory_map(harness.session, CompilePlace(harness.uri, None))
    assert found is not None
    time = found["modules"][0]["time"]
    assert time["title"] == "measured own times"
    assert "a run takes 40.0 µs" in time["notes"]
    assert max(time["picoseconds"]) == 30 * 10**6
