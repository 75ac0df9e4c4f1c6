"""Elements of tuples as instructions, for module texts without ``get-tuple-element``.

Since jaxlib 0.11, XLA prints ``%tuple#1`` where a ``get-tuple-element`` was an operand, and leaves
that instruction out (``xla_dump_compact_gte``). The element here replaces the instruction, so
that navigation, dataflow, and rules treat both forms of a text alike, as XLA's own parser does.
"""

from dataclasses import dataclass

from hlo_lsp.model.shape import element_texts
from hlo_lsp.syntax.module_records import InstructionLine

_OPCODE = "get-tuple-element"


@dataclass(slots=True, eq=False)
class TupleElement(InstructionLine):
    """Element ``number`` of ``holder``, named ``tuple#1``; its line is that of the tuple.

    ``text`` is the text that XLA would print, so columns in it are not those of a line.
    """

    holder: InstructionLine | None = None
    number: int = 0

    @property
    def line(self) -> int:
        """The current line of the tuple in the file, from 0."""
        assert self.holder is not None
        return self.holder.line

    @property
    def printed(self) -> InstructionLine:
        """The instruction that is in the text."""
        assert self.holder is not None
        return self.holder.printed


def element_of(holder: InstructionLine, number: int) -> TupleElement | None:
    """Return an element of a tuple, always the same object; None if the tuple does not have it.

    The shape of the element is empty if the text omits that of the tuple.
    """
    known = holder.elements.get(number) if holder.elements else None
    if known is not None:
        assert isinstance(known, TupleElement)
        return known
    shape = ""
    if holder.shape:
        shapes = element_texts(holder.shape)
        if shapes is None or number >= len(shapes):
            return None
        shape = shapes[number]
    name = holder.printed.name
    text = f"  %{name} = {shape} {_OPCODE}(%{holder.name}), index={number}"
    opened = text.index(f"{_OPCODE}(") + len(_OPCODE) + 1
    element = TupleElement(
        f"{holder.name}#{number}", False, shape, _OPCODE, text, opened, holder=holder, number=number
    )
    holder.elements = {**(holder.elements or {}), number: element}
    return element


def element_position(operand: str, index: str | None) -> tuple[str, str | None]:
    """Return the instruction and the shape index of a part of an operand such as ``tuple#1``.

    The part ``{0}`` of it is ``{1,0}`` of the tuple. A name without ``#`` stays as it is.
    """
    name, mark, element = operand.partition("#")
    if not mark:
        return operand, index
    inner = (index or "{}")[1:-1]
    numbers = element.replace("#", ",") + (f",{inner}" if inner else "")
    return name, f"{{{numbers}}}"
