"""A schedule numbered again, 0, 1, 2 ..., by the order of its rows."""

from hlo_lsp.analysis.live.live_section import Part
from hlo_lsp.analysis.steps.printed_schedule import PrintedSchedule
from hlo_lsp.checks.fix import Edit, Fix
from hlo_lsp.checks.places import field_place


def renumbered(printed: PrintedSchedule) -> Fix | None:
    """Each row with the number of its place, and ``max`` with how many there are.

    None where a row cannot be read. Live ranges speak of the old numbers: whether a row is one too
    many or another is missing only somebody knows who looks.
    """
    section, rows = printed.section, printed.rows
    if not section.is_whole(Part.STEPS):
        return None
    edits = []
    for place, row in enumerate(rows):
        if row is None:
            return None
        if row.step != place:
            edits.append(Edit.put(field_place(section.file, row, "STEP"), str(place)))
    if section.head is not None and section.head.max != len(rows):
        edits.append(Edit.put(field_place(section.file, section.head, "MAX"), str(len(rows))))
    if not edits:
        return None
    return Fix("Renumber the schedule", tuple(edits), is_sure=False)
