"""Chains of asynchronous instructions."""

from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.program.dataflow import async_start_of, async_successors, passed_operands
from hlo_lsp.syntax.module_records import InstructionLine

_FILE = DumpFile.of_text("""\
HloModule m

ENTRY %e (p: f32[8], t: token[]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %t = token[] parameter(1)
  %s = ((), f32[8]{0}, u32[]) async-start(), calls=%w
  %u = ((f32[8]{0}), f32[8]{0}, u32[]) async-update(%s, %p)
  %d = f32[8]{0} async-done(%u)
  %out = (f32[8]{0}, u32[], token[]) send(%p, %t), channel_id=1
  %sent = token[] send-done(%out), channel_id=1
  %round = f32[8]{0} async-update(%round)
  %lost = f32[8]{0} async-done(%nobody)
  %other = f32[8]{0} async-update(%p, %s)
}
""")


def _instruction(name: str) -> InstructionLine:
    (found,) = _FILE.module.instructions.all(name)
    return found


def _names(start: str) -> list[str]:
    return [step.name for step in async_successors(_FILE.module, _instruction(start))]


def test_async_successors_are_in_order() -> None:
    assert _names("s") == ["u", "d"]
    assert _names("u") == ["d"]
    assert _names("out") == ["sent"]
    assert _names("d") == []


def test_async_step_resolves_its_start() -> None:
    for step in "ud":
        assert async_start_of(_FILE.module, _instruction(step)) is _instruction("s")
    for step in ("s", "p", "lost", "round", "other"):
        assert async_start_of(_FILE.module, _instruction(step)) is None


def test_update_operands_belong_to_start() -> None:
    assert passed_operands(_FILE.module, _instruction("s")) == [
        (_instruction("u"), _instruction("p"))
    ]
    assert passed_operands(_FILE.module, _instruction("u")) == [
        (_instruction("u"), _instruction("s")),
        (_instruction("u"), _instruction("p")),
    ]
