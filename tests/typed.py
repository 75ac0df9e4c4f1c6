"""A module text with the cursor in it, written as ``|``."""

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


def cursor(text: str) -> tuple[DumpFile, int, int]:
    """The file without the sign, and the line and column of the cursor."""
    front, sign, behind = text.partition("|")
    assert sign
    return DumpFile.of_text(front + behind), front.count("\n"), len(front.rpartition("\n")[2])


def writing(line: str) -> tuple[DumpFile, int, int]:
    """The cursor in a line of the entry computation of :data:`MODULE`."""
    return cursor(f"{MODULE}{line}\n}}\n")


def offered(place: tuple[DumpFile, int, int], trigger: str = "") -> list[Candidate]:
    """The candidates at a place."""
    offer = completions(*place, trigger)
    return [] if offer is None else list(offer.candidates)


def labels(place: tuple[DumpFile, int, int], trigger: str = "") -> list[str]:
    """How the candidates are shown."""
    return [candidate.label for candidate in offered(place, trigger)]
