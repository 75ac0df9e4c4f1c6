"""Explanations of terms in memory files.

Sources: buffer_assignment.cc, hlo_live_range.cc.
"""

from hlo_lsp.hlo.vocabulary import vocabulary

_WORDS: dict[str, tuple[str, str]] = {
    "constant": ("constant", "The allocation holds the value of a `constant` instruction."),
    "thread-local": (
        "thread-local",
        "The value belongs to a computation that is applied to elements (the body of a reduce, "
        "sort, map or scatter). It has no live range and occupies no device memory of its own, but "
        "its size counts in `Total bytes used`.",
    ),
    "maybe-live-out": (
        "maybe-live-out",
        "A value in this allocation is part of the result of the program, so the memory outlives "
        "it. Together with `parameter` on the same line: the caller donated this buffer and an "
        "output reuses it.",
    ),
    "preallocated-temp": (
        "preallocated-temp",
        "Scratch memory of the program: neither a parameter nor a constant, not thread-local and "
        "not part of the result. Values whose live ranges do not overlap share its memory, so "
        "their sizes add up to more than the allocation.",
    ),
    "phi": (
        "phi",
        "The value is merged by control flow: a parameter of a while body or condition, or the "
        "result of a while or conditional. It shares memory with the values that it merges.",
    ),
    "assignment_label": (
        "BufferAssignment",
        "Every value of the program with its allocation, offset, and size.",
    ),
    "total_line": (
        "Total bytes used",
        "The sum of the sizes of all allocations in all memory spaces, including the "
        "thread-local ones. It is not the device memory that the program needs.",
    ),
    "used_values_label": (
        "Used values",
        "Every value with the results that contain it (positions), the instructions that read it "
        "(uses) and the instruction that defines it.",
    ),
    "positions_label": (
        "positions",
        "Instructions whose result contains the value, with its shape index in that result. "
        "The first one defines the value, the others forward it.",
    ),
    "uses_label": (
        "uses",
        "Instructions that read the value, with the operand number and the shape index in it.",
    ),
    "instruction_label": (
        "from instruction",
        "The instruction that defines the value, printed again for each element of its tuple.",
    ),
    "breakdown_row": (
        "stack trace breakdown",
        "A computation or operation that defines values live at the declared peak. `total` "
        "includes everything below the row, `current` is its own bytes, `remaining` is the rest "
        "after it.",
    ),
    "table_row": (
        "report table",
        "The values at one offset of an allocation: the size of the largest one, the cumulative "
        "size with its share of all rows, and the number of values there with their shapes.",
    ),
    "no_uses_row": ("no uses", "No instruction reads this value."),
    "live_range_label": (
        "HloLiveRange",
        "The schedule, and the live range of each value in schedule steps. A value whose end step "
        "is `max` is live until the end of the program.",
    ),
    "sequence_label": (
        "InstructionSequence",
        "The order in which instructions run, with loops and calls flattened in place.",
    ),
    "ranges_label": (
        "BufferLiveRange",
        "First and last step of each value, both inclusive. If values share a buffer by aliasing, "
        "each one ends where the next starts, so its end can be earlier than its last use.",
    ),
    "peak_label": (
        "peak",
        "The values that are live at the step that XLA declares the peak, with logical sizes and "
        "all memory spaces added up. XLA chooses the step with each value weighed by the whole "
        "shape of its instruction, so another step often has more occupied bytes.",
    ),
    "breakdown_label": (
        "stack trace breakdown",
        "The bytes at the declared peak by computation and operation name.",
    ),
    "page": ("page", "Printed by newer libtpu; its meaning is not public. It is 0 in every dump."),
    "table_header": (
        "report table",
        "One row for every offset of an allocation. The size is that of the largest value there. "
        "Rows can overlap, so their sum may exceed the allocation.",
    ),
    "by_size_label": (
        "allocations sorted by size",
        "All allocations, the largest first; the list is cut once the rest is below 5 %.",
    ),
    "with_values_label": (
        "allocations with their values",
        "Each allocation with a table of the values at its offsets.",
    ),
}


def explain(word: str) -> tuple[str, str] | None:
    """Return the title and the explanation of a term, or None if it has none."""
    table = vocabulary().tables.get(word)
    return _WORDS.get(word) if table is None else (table.name, table.text)
