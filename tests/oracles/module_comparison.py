"""The comparison of a module as the package and as XLA parse it."""

from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.shape import ArrayShape, Layout, Shape, TupleShape, parse_shape
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from oracles.xla_parser import XlaComputation, XlaInstruction, XlaModule


def assert_same_module(ours: ModuleIndex, theirs: XlaModule, where: object) -> None:
    """Compare the entry, the computations, and the instructions of two modules.

    Raises:
        AssertionError: The modules differ; the message has the first difference and ``where``.
    """
    assert ours.entry is not None, where
    _assert_equal(ours.entry.name, theirs.entry, where, "entry")
    computations = ours.all_computations()
    _assert_equal(
        [each.name for each in computations],
        [each.name for each in theirs.computations],
        where,
        "computations",
    )
    for computation, expected in zip(computations, theirs.computations, strict=True):
        _assert_computation(ours, computation, expected, (where, computation.name))


def _assert_computation(
    ours: ModuleIndex, computation: ComputationLine, theirs: XlaComputation, where: object
) -> None:
    members = ours.members(computation)
    names = [member.name for member in members]
    if theirs.schedule is not None:
        _assert_equal(names, list(theirs.schedule), where, "order")
    # Without a schedule, and inside of fusions, XLA only keeps the order of a traversal from the
    # root along the operands.
    _assert_equal(sorted(names), sorted(each.name for each in theirs.instructions), where, "names")
    root = ours.computation(computation).root
    by_name = {member.name: member for member in members}
    for instruction in theirs.instructions:
        member = by_name[instruction.name]
        _assert_equal(member is root, instruction.is_root, (where, member.name), "root")
        _assert_instruction(member, instruction, (where, member.name))


def _assert_instruction(ours: InstructionLine, theirs: XlaInstruction, where: object) -> None:
    _assert_equal(ours.opcode, theirs.opcode, where, "opcode")
    _assert_equal(ours.operands, theirs.operands, where, "operands")
    called = (*ours.called, *(body.name for body in ours.bodies))
    if ours.opcode == "while":  # XLA stores the body first, and prints it last.
        called = called[::-1]
    _assert_equal(called, theirs.called, where, "called")
    if ours.shape:  # XLA infers a shape that the text omits.
        shape = _with_layouts(parse_shape(ours.shape))
        if ours.opcode in {"send", "recv"}:
            shape = _with_plain_context(shape)
        _assert_equal(shape, theirs.shape, where, "shape")


def _with_layouts(shape: Shape) -> Shape:
    """Return the shape with XLA's default layout, in which the first dimension is the major one."""
    if isinstance(shape, TupleShape):
        return TupleShape(tuple(map(_with_layouts, shape.elements)))
    if isinstance(shape, ArrayShape) and shape.layout is None and shape.dims:
        order = tuple(reversed(range(len(shape.dims))))
        return ArrayShape(shape.element_type, shape.dims, Layout(order))
    return shape


def _with_plain_context(shape: Shape) -> Shape:
    """Return the shape of a send or recv as the parser builds it, with a plain ``u32[]``."""
    assert isinstance(shape, TupleShape)
    data, context, token = shape.elements
    assert isinstance(context, ArrayShape)
    return TupleShape((data, ArrayShape(context.element_type, context.dims, None), token))


def _assert_equal(ours: object, theirs: object, where: object, what: str) -> None:
    assert ours == theirs, f"{where}: {what}: hlo-lsp parsed {ours}, XLA parsed {theirs}"
