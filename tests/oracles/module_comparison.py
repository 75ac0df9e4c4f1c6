"""The comparison of a module as the package and as XLA parse it."""

from collections.abc import Collection
from dataclasses import replace

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


def with_opcodes(module: XlaModule, opcodes: dict[str, str]) -> XlaModule:
    """Return the module with the real opcodes of the replaced instructions."""
    if not opcodes:
        return module
    return replace(
        module,
        computations=tuple(
            replace(
                computation,
                instructions=tuple(
                    replace(each, opcode=opcodes.get(each.name, each.opcode))
                    for each in computation.instructions
                ),
            )
            for computation in module.computations
        ),
    )


def _assert_computation(
    ours: ModuleIndex, computation: ComputationLine, theirs: XlaComputation, where: object
) -> None:
    members = ours.members(computation)
    names = [member.name for member in members]
    theirs = _without_added_elements(theirs, names)
    if {each.name for each in theirs.instructions} != set(names) and _has_elements(ours):
        theirs = _with_printed_names(theirs, names)
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


def _without_added_elements(computation: XlaComputation, names: Collection[str]) -> XlaComputation:
    """Return a computation with operands such as ``tuple#1``, as in the text.

    XLA's parser from jaxlib 0.11 on adds a ``get-tuple-element`` for each element that is an
    operand.
    """
    printed = set(names)
    elements: dict[str, str] = {}
    for each in computation.instructions:  # A tuple comes before its elements.
        if each.opcode == "get-tuple-element" and each.name not in printed:
            (holder,) = each.operands
            elements[each.name] = f"{elements.get(holder, holder)}#{each.element}"
    if not elements:
        return computation
    order = computation.schedule
    return replace(
        computation,
        instructions=tuple(
            replace(each, operands=tuple(elements.get(name, name) for name in each.operands))
            for each in computation.instructions
            if each.name not in elements
        ),
        schedule=None if order is None else tuple(name for name in order if name not in elements),
    )


def _has_elements(module: ModuleIndex) -> bool:
    """Return whether the text has operands such as ``tuple#1``."""
    return any("#" in name for each in module.instructions.records() for name in each.operands)


def _with_printed_names(computation: XlaComputation, names: Collection[str]) -> XlaComputation:
    """Return a computation with the names of the text.

    If an added element takes the name of an instruction, as ``param_0.2``, XLA's parser gives that
    instruction the next free number. The order of numbers stays.
    """
    theirs = {each.name for each in computation.instructions}
    added = sorted(theirs - set(names), key=_stem_and_number)
    lacking = sorted(set(names) - theirs, key=_stem_and_number)
    if [_stem_and_number(name)[0] for name in added] != [
        _stem_and_number(name)[0] for name in lacking
    ]:
        return computation  # The comparison reports the difference.
    printed = dict(zip(added, lacking, strict=True))
    order = computation.schedule
    return replace(
        computation,
        instructions=tuple(
            replace(
                each,
                name=printed.get(each.name, each.name),
                operands=tuple(
                    "#".join((printed.get(name, name), *elements))
                    for name, *elements in (operand.split("#") for operand in each.operands)
                ),
            )
            for each in computation.instructions
        ),
        schedule=None if order is None else tuple(printed.get(name, name) for name in order),
    )


def _stem_and_number(name: str) -> tuple[str, int]:
    stem, _, number = name.rpartition(".")
    return (stem, int(number)) if stem and number.isdigit() else (name, 0)


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
