"""FileCheck directives in the comments of an HLO test: navigation, hover, and completion."""

import re

from hlo_lsp.ide.completion.candidates import (
    CandidateKind,
    CandidateList,
    best_candidates,
    plain_candidate,
)
from hlo_lsp.ide.cursor.targets import CaptureTarget
from hlo_lsp.model.display import Card, Fact, count_noun
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.place import Place
from hlo_lsp.syntax.filecheck import CaptureMention, is_directive, resolved_captures

_MAX_LINE_CHARACTERS = 200
_CAPTURE_START = re.compile(r"\[\[#?(\$?\w*)$")
_NAME_START = re.compile(r"%([\w.\-]*)$")


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


def filecheck_completions(file: DumpFile, line: int, column: int) -> CandidateList | None:
    """Return the captured variables after ``[[``, and the instructions of the file after ``%``."""
    text = file.lines[line][:column]
    if not is_directive(text):
        return None
    if match := _CAPTURE_START.search(text):
        captures = [
            mention
            for mention in resolved_captures(file.lines[:line])
            if mention.is_definition
        ]  # fmt: skip
        # The last one first, with the line that captures it.
        labels = {
            mention.name: file.lines[mention.line].partition(":")[2].strip()
            for mention in reversed(captures)
        }
    elif match := _NAME_START.search(text):
        labels = {record.name: record.shape for record in file.module.instructions.records()}
    else:
        return None
    typed = match[1]
    candidates = (
        plain_candidate(name, CandidateKind.VALUE, detail) for name, detail in labels.items()
    )
    found, complete = best_candidates(candidates, typed)
    return CandidateList(found, match.start(1), column, complete) if found else None


def _place(file: DumpFile, mention: CaptureMention) -> Place:
    return Place(file, mention.line, mention.start, mention.end)
