"""Completions in texts with a cursor, written as ``|``."""

from hlo_lsp.ide.completion.candidates import Candidate
from hlo_lsp.ide.completion.completion import completions
from hlo_lsp.model.dump_file import DumpFile

MODULE = """\
HloModule m

%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}

%twice (z: f32[8,4]) -> f32[8,4] {
  %z = f32[8,4]{1,0} parameter(0)
  ROOT %zz = f32[8,4]{1,0} add(%z, %z)
}

ENTRY %main (p: f32[8,4], n: s32[]) -> f32[8] {
  %p = f32[8,4]{1,0} parameter(0)
  %n = s32[] parameter(1)
  %zero = f32[] constant(0)
"""


def split_at_cursor(text: str) -> tuple[DumpFile, int, int]:
    """Return the file without the cursor, and the line and column of the cursor."""
    before, sign, after = text.partition("|")
    assert sign
    return DumpFile.of_text(before + after), before.count("\n"), len(before.rpartition("\n")[2])


def in_entry(line: str) -> tuple[DumpFile, int, int]:
    """Return a cursor in the last line of the entry computation of :data:`MODULE`."""
    return split_at_cursor(f"{MODULE}{line}\n}}\n")


def candidates_at(place: tuple[DumpFile, int, int], trigger: str = "") -> list[Candidate]:
    """Return the candidates at a cursor."""
    completion = completions(*place, trigger)
    return [] if completion is None else list(completion.candidates)


def labels_at(place: tuple[DumpFile, int, int], trigger: str = "") -> list[str]:
    """Return the labels of the candidates at a cursor."""
    return [candidate.label for candidate in candidates_at(place, trigger)]
