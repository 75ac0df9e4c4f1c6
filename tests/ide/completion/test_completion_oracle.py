"""Completion in real modules: the next printed word is among the candidates."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dumps import module_files
from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.ide.completion.completion import completions
from hlo_lsp.ide.completion.signatures import signature_at
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text import disk

_SAMPLE_INTERVAL = 5  # in files, of all backends and releases
MODULE = "cpu/module_0018.jit_cond_fn.cpu_after_optimizations.txt"
OLD = "gpu_h100_jax_0.4.38/module_0020.jit_condp.sm_9.0_gpu_after_optimizations.txt"


def next_words(record: InstructionLine) -> Iterator[tuple[int, str]]:
    """Yield the columns of predictable names and words, with the words."""
    parsed = record.parsed
    yield parsed.opcode.start, parsed.opcode.text
    for span in (*parsed.operands, *parsed.predecessors, *parsed.called):
        if span.text:
            yield span.start, span.text
    for attribute in parsed.attributes:
        start = parsed.line.rindex(attribute.name, 0, attribute.value.start)
        yield start, attribute.name
        known = vocabulary().attribute(attribute.name, parsed.opcode.text)
        if known is not None and attribute.value.text in known.values:
            yield attribute.value.start, attribute.value.text


def missed(file: DumpFile, record: InstructionLine) -> list[str]:
    """Return the words that are not offered when the line ends before them."""
    line, text, missing = record.line, file.lines[record.line], []
    for column, word in next_words(record):
        front = text[:column].removesuffix("%")
        file.changed(file.document.edit((line, 0), (line, len(file.lines[line])), front))
        file.refresh()
        offer = completions(file, line, len(front))
        shown = set() if offer is None else {c.label.strip("{}") for c in offer.candidates}
        if not {word, f"%{word}"} & shown and (offer is None or offer.complete):
            missing.append(f"{front[-80:]} -> {word}")
    file.changed(file.document.edit((line, 0), (line, len(file.lines[line])), text))
    file.refresh()
    return missing


@pytest.mark.parametrize("name", [MODULE, OLD])
def test_next_word_is_offered_throughout_a_module(corpus_small: Path, name: str) -> None:
    _all_foreseen(corpus_small / name, step=3)


@pytest.mark.corpus
def test_next_word_is_offered_in_many_modules(corpus_small: Path) -> None:
    for path in module_files(corpus_small)[::_SAMPLE_INTERVAL]:
        _all_foreseen(path, step=97)


def _all_foreseen(path: Path, step: int) -> None:
    file = DumpFile.of_text(disk.read_document(path).text)
    lines = sorted(record.line for record in file.module.instructions.records())
    for line in lines[::step]:
        record = file.records.at(line)
        assert isinstance(record, InstructionLine)
        assert missed(file, record) == []


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_arbitrary_text_raises_no_error(corpus_small: Path, data: st.DataObject) -> None:
    text = disk.read_document(corpus_small / MODULE).text
    start = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 200))
    file = DumpFile.of_text(text[:start] + text[start + length :])
    line = data.draw(st.integers(0, len(file.lines) - 1))
    column = data.draw(st.integers(0, len(file.lines[line])))
    offer = completions(file, line, column)
    assert offer is None or 0 <= offer.start <= column <= offer.end <= len(file.lines[line])
    signature = signature_at(file, line, column)
    assert signature is None or 0 <= signature.active < len(signature.parameters)
