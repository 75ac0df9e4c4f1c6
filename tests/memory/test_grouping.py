"""Groups of buffers by their Python lines."""

from hlo_lsp.memory.grouping import BufferGroup, GroupKey, group_buffers, owned_buffers
from hlo_lsp.memory.live_set import live_buffers
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile

_ASSIGNMENT = """\
BufferAssignment:
allocation 0: size 48, preallocated-temp:
 value: <0 small @0> (size=16,offset=0): f32[4]{0}
 value: <1 large @0> (size=32,offset=16): f32[8]{0}

Total bytes used: 48 (48B)
"""
_RANGES = """\
HloLiveRange (max 4):
  BufferLiveRange:
    small{}:0-3
    large{}:1-3
"""
_MODULE = """\
HloModule m, is_scheduled=true

ENTRY %main () -> f32[8] {
  %small = f32[4]{0} iota(), iota_dimension=0
  ROOT %large = f32[8]{0} iota(), iota_dimension=0
}
"""


def _groups(*texts: str) -> list[BufferGroup]:
    dump = Compile([DumpFile.of_text(text) for text in texts])
    return group_buffers(dump, owned_buffers(dump, live_buffers(dump, 0, 2)), GroupKey.LINE)


def test_buffers_without_line_name_the_largest() -> None:
    (group,) = _groups(_ASSIGNMENT, _RANGES, _MODULE)
    assert (group.name, group.label, group.bytes) == (
        "no Python line",
        "no Python line (large)",
        48,
    )


def test_owner_is_unknown_without_module_text() -> None:
    (group,) = _groups(_ASSIGNMENT, _RANGES)
    assert group.label == "unknown"
