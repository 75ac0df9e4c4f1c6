"""Why a collective is in a program: what asks for it, and the data that it moves."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import chain

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.display.phrases import join_limited
from hlo_lsp.hlo.vocabulary import PRODUCT_OPCODES
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex, parameter_number
from hlo_lsp.model.place import LocatedRecord
from hlo_lsp.model.query_cache import query
from hlo_lsp.program.data_origin import Origin, origins_of, source_label
from hlo_lsp.program.global_shapes import global_shape
from hlo_lsp.program.instruction_owners import InstructionFacts, owner_of_line
from hlo_lsp.program.mesh import collective_axes, collective_in
from hlo_lsp.program.stages import counterparts, unoptimized_module
from hlo_lsp.program.transfers import COLLECTIVE_OPCODES, REDUCTIONS, without_async_ending
from hlo_lsp.syntax.module_records import InstructionLine

_CHAIN = re.compile(r'chain_id="?\d+')  # the same for all parts of a collective
_MAX_OPERANDS = 3
_MAX_PARTS = 100
_MAX_MOVES = 4
_ITERATIONS = ("dynamic_slice", "dynamic_index_in_dim)/squeeze")  # that read a part
_SLICING = frozenset({"constant", "dynamic-slice", "slice"})
_MOVES = _SLICING | {"bitcast", "convert", "copy", "parameter", "reshape", "transpose"}
_MAX_STEPS = 50  # from data to the next sharding
_SUMS = PRODUCT_OPCODES | {"reduce"}
_FLAG = "u32[]{:S(2)"  # in the memory of a TPU for synchronization
_VERBS = {"all-gather": "gathers", "all-to-all": "exchanges", "collective-broadcast": "sends"}


@dataclass(frozen=True, slots=True)
class CollectiveRole:
    """Why a collective is in a program.

    Attributes:
        kind: ``requested`` if the program has the collective, else ``argument`` (the data of an
            argument moves), ``reduction`` (of partial results), or ``resharding``.
        text: A sentence without its subject: ``gathers argument p['w1'], cut over fsdp``.
    """

    kind: str
    text: str


def collective_role(dump: Compile, line: LocatedRecord[InstructionLine]) -> CollectiveRole | None:
    """Return why a collective is in a program, None for others and if that is unknown.

    The instruction can be the collective, or start, end, wrap, or contain it. Without the text
    before optimizations, it is unknown whether the program has the collective.
    """
    original = unoptimized_module(dump)
    located = _collective(line)
    if original is None or located is None or line.file is original:
        return None
    opcode = without_async_ending(located.record.opcode)
    owner = owner_of_line(dump, located)
    own = "" if owner is None else source_label(owner.source, owner.op_name)
    origins = _data_origins(dump, located)
    if requests := _requested(dump, line, origins):
        return CollectiveRole("requested", f"asked for by {join_limited(requests, _MAX_OPERANDS)}")
    labels = list(dict.fromkeys(origin.label for origin in origins if origin.label))
    if not labels:
        return None
    data = join_limited(labels, _MAX_OPERANDS)
    if opcode in REDUCTIONS:
        return CollectiveRole("reduction", f"reduces partial results of {data}")
    verb = _VERBS.get(opcode, "moves")
    if any(origin.argument is not None for origin in origins):
        cuts = {_cuts(dump, origin) for origin in origins}
        cut = f", cut in {cuts.pop()}" if len(cuts) == 1 and all(cuts) else ""
        return CollectiveRole("argument", f"{verb} {data}{cut}")
    use = "" if own in {"", *labels} else f" for {own}"
    return CollectiveRole("resharding", f"{verb} the result of {data}{use}")


def annotations_of(
    dump: Compile, line: LocatedRecord[InstructionLine]
) -> list[LocatedRecord[InstructionLine]]:
    """Return the instructions in the text before optimizations that ask for a collective.

    They are the collectives of the program, else the shardings of the arguments, and the nearest
    ones of what is computed from the data; if it has none, of what the data is computed from.
    """
    original, located = unoptimized_module(dump), _collective(line)
    if original is None or located is None or line.file is original:
        return []
    owner = owner_of_line(dump, located)
    if requests := _requests(original, owner):
        own = "" if owner is None else source_label(owner.source, owner.op_name)
        at_line = [one for one in requests if _label(dump, original, one) == own]
        return [LocatedRecord(original, one) for one in at_line or requests]
    module = original.module
    entry = None if module.entry is None else module.computation(module.entry)
    data: list[InstructionLine] = []
    for origin in _data_origins(dump, located):
        number = None if origin.argument is None else parameter_number(origin.instruction.record)
        if number is None or entry is None:
            data += counterparts(dump, origin.instruction).get(original, [])
        elif number in entry.parameters:
            data.append(entry.parameters[number])
    is_sum = without_async_ending(located.record.opcode) in REDUCTIONS
    served = counterparts(dump, located).get(original, []) or data
    found = [one for one in (*data, *served) if _is_annotated(one)]
    found += [] if is_sum else _nearest(served, partial(_results, module))
    found = found or _nearest(data, module.operands)
    return [LocatedRecord(original, one) for one in dict.fromkeys(found)]


def _results(module: ModuleIndex, record: InstructionLine) -> Iterable[InstructionLine]:
    """Return what is computed from a value without sums: each part of it from a part."""
    return (one for one in module.users(record) if one.opcode not in _SUMS)


def _is_annotated(record: InstructionLine) -> bool:
    return record.attribute("sharding") is not None and not record.shape.startswith("(")


def _nearest(
    starts: list[InstructionLine],
    step: Callable[[InstructionLine], Iterable[InstructionLine | None]],
) -> list[InstructionLine]:
    """Return the annotated instructions that can be reached by the fewest steps."""
    seen, reached = set(starts), starts
    for _ in range(_MAX_STEPS):
        checkpoint()
        reached = [
            one
            for one in chain.from_iterable(map(step, reached))
            if one is not None and one not in seen
        ]
        seen.update(reached)
        if found := [one for one in reached if _is_annotated(one)]:
            return found
    return []


def _first_part(module: ModuleIndex, record: InstructionLine) -> InstructionLine:
    """Return the first of the fusions that a collective is divided over, others as they are.

    Each of the others reads what the one before it has received.
    """
    chain = _chain(module, record)
    for _ in range(_MAX_PARTS if chain else 0):
        before = map(partial(_producer, module), module.operands(record))
        parts = (one for one in before if one is not None and _chain(module, one) == chain)
        found = next(parts, None)
        if found is None:
            break
        record = found
    return record


def _chain(module: ModuleIndex, record: InstructionLine) -> str | None:
    """Return the chain of the collective in a fusion, None for other instructions."""
    collective = collective_in(module, record) if record.opcode == "fusion" else None
    found = None if collective is None else _CHAIN.search(collective.text)
    return None if found is None else found[0]


def _is_later_part(module: ModuleIndex, record: InstructionLine) -> bool:
    """Return whether a fusion waits for flags: it continues a collective that began elsewhere."""
    operands = (one for one in module.operands(record) if one is not None)
    return record.opcode == "fusion" and any(_FLAG in one.shape for one in operands)


def _producer(module: ModuleIndex, line: InstructionLine | None) -> InstructionLine | None:
    while line is not None and line.opcode == "get-tuple-element":
        line = next(iter(module.operands(line)), None)
    return line


@query
def _collectives(file: DumpFile) -> tuple[InstructionLine, ...]:
    """Return the collectives in a text before optimizations."""
    records = file.module.instructions.records()
    return tuple(one for one in records if without_async_ending(one.opcode) in COLLECTIVE_OPCODES)


def _requests(file: DumpFile, owner: InstructionFacts | None) -> list[InstructionLine]:
    """Return the collectives in a text before optimizations with an operation name.

    After optimizations, it can be in other scopes.
    """
    name = "" if owner is None else f"/{owner.op_name}"
    named = ((one, one.metadata.get("op_name", "")) for one in _collectives(file))
    return [one for one, own in named if own and name.endswith(f"/{own}")]


def _requested(
    dump: Compile, line: LocatedRecord[InstructionLine], origins: list[Origin]
) -> list[str]:
    """Return the labels of the collectives of the program that an instruction has a part of.

    A fusion of a collective with a slice has the metadata of the collective.
    """
    original, located = unoptimized_module(dump), _collective(line)
    if original is None or located is None:
        return []
    for one in (located, line):
        owner = owner_of_line(dump, one)
        if owner is not None and _requests(original, owner):
            found = [source_label(owner.source, owner.op_name)]
            return _joined(dump, original, located, origins) or found
    return _joined(dump, original, located, origins)


def _joined(
    dump: Compile,
    original: DumpFile,
    line: LocatedRecord[InstructionLine],
    origins: list[Origin],
) -> list[str]:
    """Return the labels of the collectives that XLA joined into one, if they have all its data."""
    if not line.record.shape.startswith("("):
        return []
    axes = collective_axes(dump, line.file.module, line.record)
    served = {
        _label(dump, original, data): _label(dump, original, one)
        for one in _collectives(original)
        if collective_axes(dump, original.module, one) == axes
        for data in original.module.operands(one)
        if data is not None
    }
    labels = dict.fromkeys(served.get(origin.label, "") for origin in origins)
    return list(labels) if all(labels) else []


def _label(dump: Compile, file: DumpFile, record: InstructionLine) -> str:
    """Return the Python line and the operation of an instruction before optimizations."""
    source = dump.frames.line_of(tuple(file.module.tables.stack_of(record.metadata)))
    return source_label(source, record.metadata.get("op_name"))


def _collective(line: LocatedRecord[InstructionLine]) -> LocatedRecord[InstructionLine] | None:
    """Return the collective that an instruction is or has a part of; None for others."""
    module = line.file.module
    part = _first_part(module, line.record)
    found = None if _is_later_part(module, part) else collective_in(module, part)
    return None if found is None else LocatedRecord(line.file, found)


def _origins(dump: Compile, line: LocatedRecord[InstructionLine]) -> list[Origin]:
    """Return the origins of the operands of an instruction."""
    operands = (one for one in line.file.module.operands(line.record) if one is not None)
    return list(origins_of(dump, ((one.name, None) for one in operands)).values())


def _data_origins(dump: Compile, collective: LocatedRecord[InstructionLine]) -> list[Origin]:
    """Return the origins of what a collective moves, or has partial results of."""
    origins = _origins(dump, collective)
    is_sum = without_async_ending(collective.record.opcode) in REDUCTIONS
    return origins if is_sum else [_whole(dump, origin) for origin in origins]


def _whole(dump: Compile, origin: Origin) -> Origin:
    """Return the argument of which a slice, another layout, or another type moves; else itself."""
    found: Origin | None = origin
    for _ in range(_MAX_MOVES):
        if found is None or found.argument is not None:
            break
        sources = _origins(dump, found.instruction) if _is_move(found) else []
        found = next((one for one in sources if one.argument is not None or _is_move(one)), None)
    return origin if found is None or found.argument is None else found


def _is_move(origin: Origin) -> bool:
    if (origin.op_name or "").endswith(_ITERATIONS):
        return True
    module, record = origin.instruction.file.module, origin.instruction.record
    fused = chain.from_iterable(map(module.members, module.called_by(record)))
    parts = fused if record.opcode == "fusion" else [record]
    return _MOVES.issuperset(one.opcode for one in parts)


def _cuts(dump: Compile, origin: Origin) -> str:
    """Return the cut dimensions of an argument with their axes, empty if one is unknown."""
    whole = None if origin.argument is None else global_shape(dump, origin.instruction)
    cuts = () if whole is None else whole.cuts
    if not all(cut.axes for cut in cuts):
        return ""
    return ", ".join(f"dim {cut.dimension} over {cut.axes}" for cut in cuts)
