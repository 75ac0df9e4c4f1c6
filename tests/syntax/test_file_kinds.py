"""Detection of the kind of a file by its first lines."""

from pathlib import Path

import pytest

from dumps import CORPUS, files_of, kind_by_name
from edits import DUMPS
from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from hlo_lsp.text import disk


@pytest.mark.parametrize(
    ("first", "kind"),
    [
        ("BufferAssignment:", FileKind.ASSIGNMENT),
        ("Total bytes used: 172580 (168.5KiB)", FileKind.VALUES),
        ("Used values:", FileKind.VALUES),
        ("HloLiveRange (max 14):", FileKind.LIVE_RANGE),
        (
            "HloLiveRange not available (finalized or constructed from proto)",
            FileKind.LIVE_RANGE,
        ),
        ("Memory Space: default (color=0)", FileKind.REPORT),
        ("memory_space_allocation_entries {", FileKind.REPORT),
        ("Total bytes used: 12 (12B)\n\nAllocations sorted by size:", FileKind.REPORT),
        ("HloModule jit_f, is_scheduled=true", FileKind.MODULE),
        ("HloModule jit_f", FileKind.MODULE),
        ("001: kCopy         [source       | next=003 (1)] kCopy", FileKind.THUNKS),
        ("002: kCopy [prev=001 (1) | sink] kCopy", FileKind.THUNKS),
        ("001: kKernel\t, kernel = loop_broadcast_fusion_1", FileKind.THUNKS),
        ("kGemm  \t", FileKind.THUNKS),
    ],
)
def test_first_line_determines_kind(first: str, kind: FileKind) -> None:
    assert detect_file_kind(first.split("\n")) is kind
    assert detect_file_kind(["", *first.split("\n")]) is kind


@pytest.mark.parametrize("name", DUMPS)
@pytest.mark.parametrize("damage", ["removed", "cut", "prefixed", "under a note"])
def test_damaged_first_line_keeps_kind(name: str, damage: str, corpus_small: Path) -> None:
    path = corpus_small / DUMPS[name]
    lines = disk.read_document(path).lines
    first = next(number for number, line in enumerate(lines) if line)
    lines[first : first + 1] = {
        "removed": [],
        "cut": [lines[first][:6]],
        "prefixed": [f"x{lines[first]}"],
        "under a note": ["# my notes", "", lines[first]],
    }[damage]
    assert detect_file_kind(lines) is kind_by_name(path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "   \n\t\n",
        "--xla_dump_to=dumps\n--xla_dump_hlo_as_text=true\n",
        "# Notes\n\nThe allocation 3 has size 512, see HloLiveRange.\n",
        "The HloModule is printed below.\n",
        "# Notes\n\n```text\nallocation 25: size 1946112, color 1, page 0:\n```\n",
        "def f(xs):\n    first = xs[0]\n    return first\n",
        'thunk_metadata {\n  thunk_info {\n    profile_annotation: "copy.9"\n',
        "; ModuleID = 'jit_f'\ndefine void @f(ptr %0) {\n  %2 = load float, ptr %0\n}\n",
        "module @jit_f {\n  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {\n",
        "kilobytes\t12\n",
    ],
)
def test_other_text_has_kind_other(text: str) -> None:
    assert detect_file_kind(text.split("\n")) is FileKind.OTHER


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.py")) + sorted(CORPUS.glob("*.md")))
def test_source_code_has_kind_other(path: Path) -> None:
    assert detect_file_kind(disk.read_document(path).lines) is FileKind.OTHER


def test_other_files_of_real_dumps_have_kind_other(corpus_small: Path) -> None:
    files = files_of(corpus_small, FileKind.OTHER)
    wrong = {
        path.name
        for path in files
        if detect_file_kind(disk.read_document(path).lines) is not FileKind.OTHER
    }
    assert wrong == set()


def test_dump_between_fences_keeps_kind() -> None:
    assert detect_file_kind(["```", "HloModule m", "```"]) is FileKind.MODULE


def test_only_the_beginning_is_checked() -> None:
    assert detect_file_kind(["Lorem ipsum"] * 1000 + ["BufferAssignment:"]) is FileKind.OTHER


def test_four_kinds_are_memory_files() -> None:
    assert {kind for kind in FileKind if kind.is_memory} == {
        FileKind.ASSIGNMENT,
        FileKind.VALUES,
        FileKind.LIVE_RANGE,
        FileKind.REPORT,
    }
