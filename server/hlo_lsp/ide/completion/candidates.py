"""Completion candidates: their snippets, their order, their number, and their documentation."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import chain, islice
from typing import NamedTuple

from hlo_lsp.hlo.vocabulary import AttributeKind, AttributeSpec, OpcodeSpec, Vocabulary, vocabulary
from hlo_lsp.ide.completion.unfinished_statement import computation_parameters
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.text.inert import markdown_code

MAX_CANDIDATES = 200
_MAX_TYPED_LENGTH = 100  # characters that are compared with labels
_MAX_INSTRUCTION_LENGTH = 600
_SNIPPET_SPECIAL_CHARACTER = re.compile(r"[\\$}]")
_CHOICE_KINDS = {AttributeKind.FLAG, AttributeKind.ENUM}
# The names in the examples belong to other modules. These placeholders replace them.
_NAME_SNIPPETS = {
    AttributeKind.COMPUTATION: "${%d:computation}",
    AttributeKind.COMPUTATIONS: "{${%d:computations}}",
    AttributeKind.INSTRUCTIONS: "{${%d:instructions}}",
}


class CandidateKind(Enum):
    """The kind of a completion candidate."""

    OPCODE = auto()
    INSTRUCTION = auto()
    COMPUTATION = auto()
    ATTRIBUTE = auto()
    VALUE = auto()
    KEY = auto()
    TYPE = auto()
    SHAPE = auto()
    KEYWORD = auto()
    TABLE = auto()
    EXAMPLE = auto()


class Candidate(NamedTuple):
    """A completion candidate.

    ``snippet`` is inserted by editors that support snippets, ``insert`` by the others. ``about`` is
    the key of the documentation: a category with an owner, and a name.
    """

    label: str
    kind: CandidateKind
    insert: str
    snippet: str | None = None
    detail: str = ""
    about: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class CandidateList:
    """Candidates for the columns ``start`` to ``end`` of the line, most likely first.

    ``complete`` is False if more typed characters would yield other candidates.
    """

    candidates: Sequence[Candidate]
    start: int
    end: int
    complete: bool = True


def plain_candidate(
    text: str, kind: CandidateKind, detail: str = "", about: tuple[str, str] | None = None
) -> Candidate:
    """Return a candidate whose label is inserted as it is."""
    return Candidate(text, kind, text, None, detail, about)


def placeholder(number: int, text: str) -> str:
    """Return a snippet placeholder with default text."""
    return f"${{{number}:{_SNIPPET_SPECIAL_CHARACTER.sub(lambda sign: chr(92) + sign[0], text)}}}"


def opcode_snippet(opcode: OpcodeSpec, vocabulary: Vocabulary, literal: str = "") -> str:
    """Return the snippet of an opcode with its operands and required attributes.

    ``literal`` is the text in the parentheses of an opcode without operands.
    """
    names = [operand.name for operand in opcode.operands if not operand.optional]
    names = names or ([literal] if literal else [])
    required = dict.fromkeys(group[0] for group in opcode.required)
    known = [vocabulary.attribute(name, opcode.name) for name in required]
    attributes = [
        f", {attribute.name}={value_snippet(attribute, number)}"
        for number, attribute in enumerate(filter(None, known), len(names) + 1)
    ]
    operands = ", ".join(placeholder(number, name) for number, name in enumerate(names, 1))
    return f"{opcode.name}({operands}){''.join(attributes)}"


def value_snippet(attribute: AttributeSpec, number: int) -> str:
    """Return the snippet of an attribute value: a choice, or an example to overwrite."""
    if attribute.kind in _CHOICE_KINDS and attribute.values:
        return f"${{{number}|{','.join(attribute.values)}|}}"
    if attribute.kind in _NAME_SNIPPETS:
        return _NAME_SNIPPETS[attribute.kind] % number
    example = attribute.example
    if len(example) > 2 and (example[0], example[-1]) in {("{", "}"), ('"', '"')}:
        return example[0] + placeholder(number, example[1:-1]) + example[-1]
    return placeholder(number, example)


def best_candidates(candidates: Iterable[Candidate], typed: str) -> tuple[list[Candidate], bool]:
    """Return at most MAX_CANDIDATES candidates in order, and whether these are all.

    A short list is returned whole, because the editor filters it. A longer list is reduced to the
    candidates that match the typed text: first labels that start with it, then labels with a word
    that starts with it, then labels that contain its characters in this order.
    """
    rest = iter(candidates)
    found = list(islice(rest, MAX_CANDIDATES + 1))
    if len(found) <= MAX_CANDIDATES:
        return found, True
    if not typed.removeprefix("%"):
        return found[:MAX_CANDIDATES], False
    match = label_matcher(typed)
    ranked = [(match(candidate.label), candidate) for candidate in chain(found, rest)]
    chosen = [candidate for rank in range(3) for at, candidate in ranked if at == rank]
    return chosen[:MAX_CANDIDATES], False


def label_matcher(typed: str) -> Callable[[str], int | None]:
    """Return a function that ranks how well a label matches: from 0, the best; None if not."""
    signs = [re.escape(sign) for sign in typed.removeprefix("%")[:_MAX_TYPED_LENGTH]]
    whole, spread = "".join(signs), "".join(f"[^{sign}]*{sign}" for sign in signs)
    expression = re.compile(rf"%?(?:({whole})|.*?[^a-z0-9]({whole})|{spread})", re.IGNORECASE)

    def match(label: str) -> int | None:
        found = expression.match(label)
        return None if found is None else (found.lastindex or 3) - 1

    return match


def candidate_documentation(file: DumpFile, about: tuple[str, str]) -> str:
    """Return the Markdown documentation of a candidate; empty if there is none."""
    (kind, _, owner), name = about[0].partition(" "), about[1]
    words = vocabulary()
    match kind:
        case "line":
            return _definition_documentation(file, int(owner), name)
        case "opcode":
            opcode = words.opcode(name)
            if opcode is None:
                return ""
            required = [" or ".join(f"`{name}`" for name in group) for group in opcode.required]
            needs = f"\n\nRequired: {', '.join(required)}." if required else ""
            return opcode.text + needs
        case "attribute" | "header":
            found = words.attribute(name, owner) if owner else words.header.get(name)
            if found is None:
                return ""
            return f"{found.text}\n\nExample: `{found.name}={found.example}`"
        case "key":
            holder = words.attribute(owner) or words.header.get(owner)
            return "" if holder is None else holder.keys.get(name, "")
        case "type":
            return words.element_types[name].text if name in words.element_types else ""
        case "table":
            return words.tables.get(name, "")
    return words.keywords.get(name, "") if kind == "keyword" else ""


def _definition_documentation(file: DumpFile, line: int, name: str) -> str:
    """Return the text of an instruction or computation; empty if it has moved since.

    The signature of a computation follows from its instructions: ``(p.1: f32[]) -> f32[]``.
    """
    record = file.records.at(line) if line < len(file.lines) else None
    if isinstance(record, ComputationLine) and record.name == name:
        root = file.module.computation(record).root
        parameters = [f"{each.name}: {each.shape}" for each in computation_parameters(file, record)]
        text = f"{name} ({', '.join(parameters)}) -> {'?' if root is None else root.shape}"
        return markdown_code(text)
    if isinstance(record, InstructionLine) and record.name == name:
        text = " ".join(record.text.split())
        cut = f"{text[:_MAX_INSTRUCTION_LENGTH]} ..."
        return markdown_code(text if len(text) <= _MAX_INSTRUCTION_LENGTH else cut)
    return ""
