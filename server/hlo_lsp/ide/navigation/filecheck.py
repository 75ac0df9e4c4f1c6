"""FileCheck variables in the comments of an HLO test: their places and hovers."""

from hlo_lsp.display.cards import Card, Fact
from hlo_lsp.display.phrases import count_noun
from hlo_lsp.ide.cursor.targets import CaptureTarget
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.syntax.filecheck import CaptureMention, resolved_captures

_MAX_LINE_CHARACTERS = 200


def capture_places(file: DumpFile, target: CaptureTarget) -> list[Place]:
    """Return the places that capture a variable."""
    captures = resolved_captures(file.lines).get(target.mention, ())
    return [_place(file, capture) for capture in captures]


def capture_and_use_places(
    file: DumpFile, target: CaptureTarget
) -> tuple[list[Place], list[Place]]:
    """Return the places that capture a variable, and those that use it."""
    resolved = resolved_captures(file.lines)
    captures = set(resolved.get(target.mention, ()))
    uses = (mention for mention, found in resolved.items() if captures.intersection(found))
    return (
        [_place(file, capture) for capture in sorted(captures, key=lambda each: each.line)],
        [_place(file, use) for use in uses if not use.is_definition],
    )


def capture_card(file: DumpFile, target: CaptureTarget) -> Card:
    """Return the hover of a variable."""
    captures, uses = capture_and_use_places(file, target)
    facts = [
        Fact(
            f"line {place.number}",
            f"`{file.lines[place.line].strip()[:_MAX_LINE_CHARACTERS]}`",
        )
        for place in captures
    ]
    if not captures:
        facts.append(Fact("captured", "not before this line in this file"))
    facts.append(Fact("uses", count_noun(len(uses), "use")))
    return Card(target.mention.name, tuple(facts), headline="FileCheck variable")


def _place(file: DumpFile, mention: CaptureMention) -> Place:
    return Place(file, mention.line, mention.start, mention.end)
