"""The first answer, given before anybody asks: it reads grammars and words, which takes 0.1 s."""

from hlo_lsp.analysis.cards.about import card_about
from hlo_lsp.analysis.colours.tokens import tokens
from hlo_lsp.analysis.cursor.subject import subject_at
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.dump_set import DumpSet
from hlo_lsp.syntax.memory_scanner import memory_scanner
from hlo_lsp.text.checkpoint import checkpoint

_MODULE = """\
HloModule m

ENTRY %e (x: f32[8]) -> f32[8] {
  ROOT %x = f32[8]{0:T(128)} parameter(0), sharding={devices=[1]0}, metadata={op_name="x"}
}
"""


def warm() -> None:
    """Read what every answer needs and no dump changes."""
    file = DumpFile.of_text(_MODULE)
    checkpoint()
    memory_scanner()
    checkpoint()
    found = subject_at(file, 3, 8)
    dump = DumpSet([file])
    if found is not None:
        card_about(dump, found)
    checkpoint()
    for _ in tokens(dump, file):
        checkpoint()
