"""What a candidate of a completion means, looked up when it is selected."""

from hlo_lsp.analysis.writing.completion_names import signature
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.vocabulary.entries import Attribute, Opcode
from hlo_lsp.vocabulary.vocabulary import vocabulary

_LONGEST = 600  # characters of an instruction


def explanation(file: DumpFile, about: tuple[str, str]) -> str:
    """The sentences about a word, or the text of an instruction in ``, Markdown; may be empty."""
    (kind, _, owner), name = about[0].partition(" "), about[1]
    words = vocabulary()
    if kind == "line":
        return _of_line(file, int(owner), name)
    if kind == "opcode":
        opcode = words.opcode(name)
        return "" if opcode is None else _of_opcode(opcode)
    if kind in {"attribute", "header"}:
        found = words.attribute(name, owner) if kind == "attribute" else words.header.get(name)
        return "" if found is None else of_attribute(found)
    if kind == "key":
        holder = words.attribute(owner) or words.header.get(owner)
        return "" if holder is None else holder.keys.get(name, "")
    if kind == "type":
        return words.element_types[name].text if name in words.element_types else ""
    if kind == "table":
        return words.tables[name].text if name in words.tables else ""
    return words.keywords.get(name, "") if kind == "keyword" else ""


def of_attribute(attribute: Attribute) -> str:
    """What an attribute says, with an example."""
    return f"{attribute.text}\n\nExample: `{attribute.name}={attribute.example}`"


def _of_opcode(opcode: Opcode) -> str:
    required = [" or ".join(f"`{name}`" for name in group) for group in opcode.required]
    return opcode.text + (f"\n\nRequired: {', '.join(required)}." if required else "")


def _of_line(file: DumpFile, line: int, name: str) -> str:
    """An instruction or a computation; nothing if the text has changed so that it is elsewhere."""
    record = file.records.at(line) if line < len(file.lines) else None
    if isinstance(record, ComputationLine) and record.name == name:
        return f"`{name} {signature(file, record)}`"
    if isinstance(record, InstructionLine) and record.name == name:
        text = " ".join(record.text.split())
        return f"`{text if len(text) <= _LONGEST else text[:_LONGEST] + ' ...'}`"
    return ""
