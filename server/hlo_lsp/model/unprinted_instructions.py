"""Instructions that a module text omits: bodies of ``slice-start``, and elements of tuples.

XLA prints an ``async-start`` of a computation with a single instruction as ``slice-start``, with
the attributes of that instruction, in ``compiled.as_text()`` and everywhere else but in dumps.

Since jaxlib 0.11, XLA prints ``%tuple#1`` where a ``get-tuple-element`` was an operand, and leaves
that instruction out (``xla_dump_compact_gte``).

The computation and the element here replace the omitted ones, so that navigation, dataflow, and
rules treat both forms of a text alike, as XLA's own parser does.
"""

from dataclasses import dataclass
from itertools import islice

from hlo_lsp.hlo.vocabulary import vocabulary
from hlo_lsp.model.shape import element_texts
from hlo_lsp.syntax.instruction_text import attributes_column
from hlo_lsp.syntax.module_records import InlineComputation, InstructionLine, WrappedInstruction

_ATTRIBUTE = "calls"
_THREAD, _PREDECESSORS = "async_execution_thread", "control-predecessors"
_OUTSIDE = (_THREAD, _PREDECESSORS)  # of the start, and not of the instruction that it starts
_RESULT = 1  # the element of the shape of a start


def async_body(start: InstructionLine) -> InlineComputation | None:
    """Return a computation for a start that names only the opcode, else None.

    The metadata of its root are those of the start, as XLA's parser copies them.
    """
    opcode = start.wrapped_opcode
    if opcode is None or inline_body(start) is not None:
        return None
    elements = element_texts(start.shape) or ()
    operands = (element_texts(elements[0]) if elements else None) or ()
    name = f"{start.name}.{_ATTRIBUTE}"
    body = InlineComputation(
        name, False, "", attribute=_ATTRIBUTE, holder=start, caller=start, is_printed=False
    )
    parameters = [
        _member(body, start, f"{name}.param_{number}", shape, f"parameter({number})")
        for number, shape in enumerate(operands)
    ]
    names = ", ".join(f"%{one.name}" for one in parameters)
    result = next(islice(elements, _RESULT, None), "")
    text = f"{opcode}({names}){_attributes(start)}"
    root = _member(body, start, f"{name}.{opcode}", result, text, is_root=True)
    # A computation that the text has inline belongs to the root, too.
    root.bodies = start.bodies
    body.members = (*parameters, root)
    return body


def inline_body(start: InstructionLine) -> InlineComputation | None:
    """Return the computation that a start runs if the text has it inline, else None.

    Before it can be those that the attributes of the operation name, also as ``calls``.
    """
    body = start.bodies[-1] if start.bodies else None
    if body is None or body.attribute != _ATTRIBUTE or not body.members:
        return None
    return body if body.members[-1].opcode == start.wrapped_opcode else None


def text_as_in_dumps(record: InstructionLine, opcode: str) -> str:
    """Return the text of an instruction as dumps print it, which spell the opcode of the model."""
    if opcode == record.spelled:
        return record.text[record.column :]
    start = record.text[record.column : record.opened - 1].rstrip().removesuffix(record.spelled)
    rest = text_of_start(record) if record.wrapped_opcode else record.text[record.opened :]
    return f"{start}{opcode}({rest}"


def text_of_start(start: InstructionLine) -> str:
    """Return the operands and the attributes of a start as in a dump, which names a computation.

    Attributes that every instruction can have are those of the start.
    """
    parts = [", ".join(f"%{name}" for name in start.operands), ")"]
    thread, common = [], []
    for one in start.attributes.items:
        text = f", {one.name}={one.value.text}"
        if one.name == _THREAD:
            thread.append(text)
        elif one.name in vocabulary().common:
            common.append(text)
    return "".join((*parts, *thread, f", {_ATTRIBUTE}=%{start.name}.{_ATTRIBUTE}", *common))


def _attributes(start: InstructionLine) -> str:
    text = start.text[attributes_column(start.text, start.opened) :]
    if not any(name in text for name in _OUTSIDE):
        return text
    kept = [one for one in start.attributes.items if one.name not in _OUTSIDE]
    return "".join(f", {one.name}={one.value.text}" for one in kept)


def _member(
    home: InlineComputation,
    start: InstructionLine,
    name: str,
    shape: str,
    operation: str,
    *,
    is_root: bool = False,
) -> WrappedInstruction:
    text = f"  {'ROOT ' if is_root else ''}%{name} = {shape}{' ' if shape else ''}{operation}"
    opcode, _, _ = operation.partition("(")
    opened = text.index(f" {opcode}(") + len(opcode) + 2
    return WrappedInstruction(
        *(name, is_root, shape, opcode, text, opened), holder=start, home=home
    )


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
