"""Texts with out-of-memory messages are a kind of their own."""

import pytest

from hlo_lsp.syntax.file_kinds import FileKind, detect_file_kind
from oom_messages import DUMP, GPU, NAMES, PROGRAM_LOAD, text_of


@pytest.mark.parametrize("text", [*map(text_of, NAMES), GPU, PROGRAM_LOAD])
@pytest.mark.parametrize("before", ["", "step 1\n", "step\n" * 1000])
def test_message_in_log_is_found(text: str, before: str) -> None:
    assert detect_file_kind((before + text).split("\n")) is FileKind.OOM


@pytest.mark.parametrize("name", ["*.oom_top_memory*", "*.peak_memory_tensors.txt"])
def test_files_of_dump_are_found(name: str) -> None:
    (path,) = DUMP.glob(name)
    assert detect_file_kind(path.read_text("utf-8").split("\n")) is FileKind.OOM


def test_message_is_no_dump() -> None:
    assert not FileKind.OOM.is_dump
    assert not FileKind.OOM.has_records


def test_rest_of_message_is_found() -> None:
    assert detect_file_kind(GPU.split("\n")[-6:]) is FileKind.OOM


@pytest.mark.parametrize("text", ["", "12G of memory in use", "HloModule m\n" + GPU])
def test_other_texts_keep_their_kind(text: str) -> None:
    assert detect_file_kind(text.split("\n")) is not FileKind.OOM
