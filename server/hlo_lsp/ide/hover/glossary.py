"""What the words of the memory files mean. Sources: buffer_assignment.cc, hlo_live_range.cc."""

from hlo_lsp.hlo.vocabulary import vocabulary

_WORDS: dict[str, tuple[str, str]] = {
    "constant": ("constant", "The allocation holds the value of a `constant` instruction."),
    "thread-local": (
        "thread-local",
        "The value belongs to a computation that is applied to elements (the body of a reduce, "
        "sort, map or scatter). It is never in memory next to the others, though its size counts "
        "in `Total bytes used`, and it has no live range.",
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
        "not part of the result. Values that do not live at the same time share its bytes, so "
        "their sizes add up to more than the allocation.",
    ),
    "phi": (
        "phi",
        "The value is merged by control flow: a parameter of a while body or condition, or the "
        "result of a while or conditional. It shares its memory with the values that flow in.",
    ),
    "assignment_label": (
        "BufferAssignment",
        "Every value of the program with the allocation and the bytes that it was given.",
    ),
    "total_line": (
        "Total bytes used",
        "The plain sum of the sizes of all allocations, over all memory spaces and with the "
        "thread-local ones. It is not the device memory that the program needs.",
    ),
    "used_values_label": (
        "Used values",
        "Every value with the places where it appears (positions), the instructions that read it "
        "(uses) and the instruction that defines it.",
    ),
    "positions_label": (
        "positions",
        "Where the value appears: instructions whose result holds it, with its place in their "
        "tuple. The first is the instruction that defines it, the others pass it on.",
    ),
    "uses_label": (
        "uses",
        "Who reads the value: instruction, number of the operand, and the place in that operand.",
    ),
    "instruction_label": (
        "from instruction",
        "The instruction that defines the value, printed again for each element of its tuple.",
    ),
    "breakdown_row": (
        "stack trace breakdown",
        "A computation or operation on the way to values that live at the declared peak: `total` "
        "with everything below it, `current` its own bytes, `remaining` what comes after it.",
    ),
    "table_row": (
        "report table",
        "What lies at one offset of an allocation: the size of the largest value there, the "
        "running sum with its share of all rows, how many values begin there and their shapes.",
    ),
    "no_uses_row": ("no uses", "No instruction reads this value."),
    "live_range_label": (
        "HloLiveRange",
        "The schedule and, in steps of it, from when to when each value lives. An end equal to "
        "`max` means: to the end of the program.",
    ),
    "sequence_label": (
        "InstructionSequence",
        "The order in which the instructions run, with loops and calls flattened in place.",
    ),
    "ranges_label": (
        "BufferLiveRange",
        "First and last step of each value, both included. Values that share a buffer by aliasing "
        "hand it over: the end of one is cut to the start of the next, so an end can be earlier "
        "than the last use.",
    ),
    "peak_label": (
        "peak",
        "The values that live at the step which XLA declares the peak, with unpadded bytes and all "
        "memory spaces added up. XLA picks the step by weighing each value with the shape of its "
        "whole instruction, so another step often has more occupied bytes.",
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
        "Each allocation again, with a table of what lies at its offsets.",
    ),
}


def explain(word: str) -> tuple[str, str] | None:
    """A title and an explanation, or None for a word that explains itself."""
    table = vocabulary().tables.get(word)
    return _WORDS.get(word) if table is None else (table.name, table.text)
