"""Completion in the FileCheck directives of an HLO test."""

import re

from hlo_lsp.ide.completion.candidates import (
    CandidateKind,
    CandidateList,
    best_candidates,
    plain_candidate,
)
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.filecheck import is_directive, resolved_captures

_CAPTURE_START = re.compile(r"\[\[#?(\$?\w*)$")
_NAME_START = re.compile(r"%([\w.\-]*)$")


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
