"""All reports give a buffer that a scan saves to the line of its data."""

from hlo_lsp.display.table import text_lines
from hlo_lsp.memory.oom_join import join_message
from hlo_lsp.memory.why_alive import lifetime_of
from hlo_lsp.reports.find import FindQuery, find_buffers, found_content, found_json
from hlo_lsp.reports.memory_map import memory_map
from hlo_lsp.reports.oom_report import oom_lines, oom_report
from hlo_lsp.reports.summary import summarize
from hlo_lsp.reports.summary_text import buffer_json, origin_text
from hlo_lsp.reports.why_alive_text import lifetime_card
from oom_messages import message
from scanned_program import SAVED_BUFFERS, scanned_program

_SAVING = "train.py:19, saved by the scan at :22"
_MESSAGE = """\
RESOURCE_EXHAUSTED: Out of memory while trying to allocate 128 bytes.
BufferAssignment OOM Debugging.
Peak buffers:
\tBuffer 1:
\t\tSize: 128B
\t\tOperator: op_name="jit(f)/while/body/dynamic_update_slice" \
source_file="/home/user/train.py" source_line=22
\t\tXLA Label: fusion
\t\tShape: f32[8,4]
\t\t==========================
"""


def test_summary_groups_saved_data_by_their_line() -> None:
    (space,) = summarize(scanned_program()).spaces
    assert [(one.label, one.bytes) for one in space.groups] == [
        ("train.py:19", 128),
        ("arguments", 16),
    ]
    saved = next(one for one in space.buffers if not one.is_argument)
    assert origin_text(saved) == f"`empty` at /home/user/{_SAVING}"
    assert buffer_json(saved)["origin"]["saved_by"] == "/home/user/train.py:22"


def test_find_lists_saved_data_of_a_line() -> None:
    found = find_buffers(scanned_program(), FindQuery.of("train.py:19"))
    assert {one.name for one in found.buffers} >= set(SAVED_BUFFERS)
    assert all(_SAVING in line for line in [*text_lines(found_content(found, 9))][1:])
    saved_by = {one["saved_by"] for one in found_json(found)["buffers"]}
    assert saved_by == {"/home/user/train.py:22"}


def test_lifetime_names_the_scan() -> None:
    dump = scanned_program()
    value = dump.value_at("loop", "{2}")
    assert value is not None
    card = lifetime_card(dump, value, lifetime_of(dump, value))
    assert f"/home/user/{_SAVING}" in [fact.text for fact in card.facts]


def test_memory_map_groups_saved_data_by_their_line() -> None:
    found = memory_map(scanned_program())
    lines = {found["strings"][number] for number in found["boxes"]["line"]}
    assert lines == {"arguments", "/home/user/train.py:19"}


def test_message_with_a_dump_names_the_scan() -> None:
    report = oom_report(join_message(message(_MESSAGE), [scanned_program()]))
    assert _SAVING in "\n".join(oom_lines(report))
