"""Module texts with an asynchronous operation, in both spellings of XLA."""

from dataclasses import dataclass

from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

_SUM = """\
%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}

"""


@dataclass(frozen=True)
class AsyncSpelling:
    """An opcode that runs asynchronously, with the dimensions of its result and attributes."""

    opcode: str
    dimensions: str
    attributes: str

    @property
    def short(self) -> str:
        """The text as ``compiled.as_text()`` prints it."""
        return self._text(self.opcode, self.attributes, "")

    @property
    def dumped(self) -> str:
        """The text as XLA dumps it."""
        body = f"""\
%async_computation (q: f32[64,128]) -> f32[{self.dimensions}] {{
  %q = f32[64,128]{{1,0}} parameter(0)
  ROOT %run = f32[{self.dimensions}]{{1,0}} {self.opcode}(%q), {self.attributes}
}}

"""
        return self._text("async", "calls=%async_computation", body)

    def _text(self, opcode: str, attributes: str, body: str) -> str:
        result = f"f32[{self.dimensions}]{{1,0}}"
        return f"""\
HloModule m, is_scheduled=true, num_partitions=2

{_SUM if "%add" in self.attributes else ""}{body}\
ENTRY %main (p: f32[64,128]) -> (f32[64,128], f32[{self.dimensions}]) {{
  %p = f32[64,128]{{1,0}} parameter(0)
  %start = ((f32[64,128]{{1,0}}), {result}, u32[]) {opcode}-start(%p), {attributes}
  %neg = f32[64,128]{{1,0}} negate(%p)
  %done = {result} {opcode}-done(%start)
  ROOT %r = (f32[64,128]{{1,0}}, {result}) tuple(%neg, %done)
}}
"""


_GROUPS = "channel_id=7, replica_groups={{0,1}}, use_global_device_ids=true"
SPELLINGS = (
    AsyncSpelling("all-gather", "128,128", f"{_GROUPS}, dimensions={{0}}"),
    AsyncSpelling("all-reduce", "64,128", f"{_GROUPS}, to_apply=%add"),
    AsyncSpelling(
        "collective-permute", "64,128", "channel_id=1, source_target_pairs={{0,1},{1,0}}"
    ),
    AsyncSpelling("copy", "64,128", "backend_config={}"),
    AsyncSpelling("reduce-scatter", "32,128", f"{_GROUPS}, dimensions={{0}}, to_apply=%add"),
    AsyncSpelling("all-to-all", "64,128", "channel_id=1, replica_groups={{0,1}}, dimensions={0}"),
    AsyncSpelling("custom-call", "64,128", 'custom_call_target="foo"'),
    AsyncSpelling("negate", "64,128", "backend_config={}"),
    AsyncSpelling("slice", "16,128", "slice={[0:16], [0:128]}"),
)


def compile_of(text: str) -> tuple[Compile, DumpFile]:
    """Return a compile of one module text, and the text."""
    file = DumpFile.of_text(text)
    return Compile([file]), file
