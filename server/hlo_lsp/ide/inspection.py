"""JSON output of ``hlo-lsp inspect``. Its keys are a public interface."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from hlo_lsp.cost.roofline import cost_sum
from hlo_lsp.ide.hover.values import is_at_declared_peak
from hlo_lsp.ide.navigation.references import user_instructions
from hlo_lsp.model.backend import space_name
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.padded_sizes import sizes_of_text, target_of
from hlo_lsp.model.place import LocatedRecord, Value
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.shape import shape_text
from hlo_lsp.model.stdout_dump import SectionFile
from hlo_lsp.program.collective_roles import collective_role
from hlo_lsp.program.global_shapes import global_shape
from hlo_lsp.program.instruction_owners import InstructionFacts, owner_of, owner_of_line
from hlo_lsp.program.mesh import axes_json
from hlo_lsp.stats.instruction_table import InstructionRow, InstructionTable
from hlo_lsp.syntax.instruction_text import InstructionText
from hlo_lsp.syntax.memory_records import AllocationLine
from hlo_lsp.syntax.module_records import ComputationLine, InstructionLine
from hlo_lsp.syntax.records import Record
from hlo_lsp.syntax.used_value import defining_text
from hlo_lsp.text.amounts import in_seconds

Json = dict[str, Any]
_ALLOCATION_KEYS = (
    *("parameter", "parameter_index", "parameter_shape", "output_shape", "constant"),
    *("thread_local", "maybe_live_out", "preallocated_temp"),
)


def value_json(dump: Compile, value: Value) -> Json:
    """Return a value; facts that no file of the compile contains are None."""
    assigned = None if value.assigned is None else value.assigned.record
    entry = None if value.entry is None else value.entry.record
    text = None if entry is None else defining_text(entry)
    metadata = {} if text is None else text.metadata
    shape = dump.shape_text(value)
    positions = [] if entry is None else entry.positions
    uses = [] if entry is None else entry.uses
    return {
        "kind": "value",
        "id": value.id,
        "name": value.name,
        "index": value.index,
        "phi": value.phi,
        "shape": shape,
        **_sizes(dump, shape, value, in_memory=True),
        "size": value.size,
        "offset": None if assigned is None else assigned.offset,
        "allocation": _allocation_number(value),
        "memory_space": value.color,
        "memory_space_name": _space_name(dump, value.color),
        "live_range": _live_range(value),
        "at_declared_peak": is_at_declared_peak(dump, value.live),
        "defined_by": value.name,
        "positions": entry and [{"instruction": row.name, "index": row.index} for row in positions],
        "uses": entry
        and [{"instruction": row.name, "operand": row.operand, "index": row.index} for row in uses],
        **_source(dump, value.name, metadata, owner_of(dump, value.name, value.index)),
        **_place(value.assigned or value.entry),
    }


def instruction_json(
    dump: Compile, name: str, line: LocatedRecord[InstructionLine] | None = None
) -> Json | None:
    """Return an instruction, or None if no file of the compile mentions it.

    ``line`` is the instruction, if its name is ambiguous in the compile.
    """
    line = line or dump.instruction(name)
    text = dump.text_of(name) if line is None else line.record.parsed
    home = line or dump.step(name)
    if text is None and home is None:
        return None
    whole = dump.value_at(name)
    shape = None if text is None else text.shape.text or None
    metadata = {} if text is None else text.metadata
    owner = owner_of_line(dump, line)
    stack = tuple(dump.stack_of(metadata)) if owner is None else owner.stack
    head = None if line is None else line.file.module.computation_of(line.record)
    whole_array = None if line is None else global_shape(dump, line)
    role = None if line is None else collective_role(dump, line)
    return {
        "kind": "instruction",
        "name": name,
        "opcode": text and text.opcode.text
        if line is None
        else line.file.module.opcode(line.record),
        "shape": shape,
        **_sizes(dump, shape, whole, in_memory=whole is not None),
        "global_shape": whole_array and shape_text(whole_array.shape),
        "cuts": [asdict(cut) for cut in whole_array.cuts] if whole_array else [],
        "computation": head and head.name,
        "is_root": line and line.record.is_root,
        "operands": text and [span.text for span in text.operands],
        "users": user_instructions(dump, name, line),
        "called": text and _called(text, line),
        "axes": axes_json([owner.axes]) if owner is not None and owner.axes is not None else None,
        "role": role and asdict(role),
        **_source(dump, name, metadata, owner),
        "stack": [
            {"function": frame.function, "file": frame.file, "line": frame.line} for frame in stack
        ],
        "values": _value_ids_by_name(dump).get(name, []),
        "allocation": whole and _allocation_number(whole),
        "live_range": whole and _live_range(whole),
        **_place(home),
    }


def _called(text: InstructionText, line: LocatedRecord[InstructionLine] | None) -> list[str]:
    if line is not None and line.record.wrapped_opcode:
        return [one.name for one in line.file.module.called_by(line.record)]
    return [span.text for span in text.called]


def module_json(dump: Compile, file: DumpFile) -> Json:
    """Return all instructions and computations of a module in text order."""
    module = file.module
    heads = module.all_computations()
    entry = module.entry  # The lookup scans all computations.
    return {
        "kind": "dump",
        "file_kind": file.kind.value,
        "path": file.label,
        "instructions": [
            instruction_json(dump, record.name, LocatedRecord(file, record))
            for head in heads
            for record in module.members(head)
        ],
        "computations": [_computation(module, head, is_entry=head is entry) for head in heads],
    }


def computation_json(head: LocatedRecord[ComputationLine]) -> Json:
    """Return a computation and the instructions that call it."""
    module, record = head.file.module, head.record
    return {
        "kind": "computation",
        **_computation(module, record, is_entry=record is module.entry),
        "callers": [caller.name for caller in module.callers(record)],
        **_place(head),
    }


def _computation(module: ModuleIndex, head: ComputationLine, *, is_entry: bool) -> Json:
    computation = module.computation(head)
    parameters = sorted(computation.parameters.items())
    return {
        "name": head.name,
        "is_entry": is_entry,
        "root": None if computation.root is None else computation.root.name,
        "parameters": [parameter.name for _, parameter in parameters],
        "instructions": [record.name for record in computation.members],
    }


def instruction_time_json(table: InstructionTable, name: str) -> Json:
    """Return the cost of one execution of an instruction, and its measured time."""
    row = table.by_name.get(name)
    if row is None:
        return {"cost": None, "measured": None}
    return {"cost": _cost_json(table, row), "measured": _measured_json(table, row)}


def _cost_json(table: InstructionTable, row: InstructionRow) -> Json | None:
    if row.cost is None or not row.has_cost:
        return None
    known, executions = row.cost.cost, row.cost.executions
    return {
        "flops": known and known.flops,
        "transcendentals": known and known.transcendentals,
        "bytes_accessed": known and known.bytes_accessed,
        "memory_bytes": known and row.cost.memory_bytes,
        "wire_bytes": row.cost.wire_bytes,
        "executions": executions,
        "complete": row.cost.is_known,
        "chip": table.chip and table.chip.name,
        "least_seconds": row.least and in_seconds(row.least.ps / executions),
        "bound": row.least and row.least.bound and row.least.bound.value,
    }


def _measured_json(table: InstructionTable, row: InstructionRow) -> Json | None:
    time, rates = row.measured, table.achieved([row])
    if time is None:
        return None
    return {
        "executions": table.executions,
        "occurrences": time.occurrences,
        "total_ps": time.total_ps,
        "own_ps": time.own_ps,
        "async_ps": time.async_ps,
        "share": table.share(row),
        "roofline_share": (rates and rates.roofline_share) or None,
    }


def computation_time_json(table: InstructionTable, name: str) -> Json:
    """Return the cost of the instructions of a computation in a run, and their measured time."""
    rows = table.by_computation.get(name, ())
    costs = [row.cost for row in rows if row.cost is not None and row.has_cost]
    total = cost_sum(costs, table.chip)
    is_timed = any(row.least is not None for row in rows if row.has_cost)
    own_ps = sum(row.measured.own_ps for row in rows if row.measured is not None)
    return {
        "cost": {
            "flops": total.cost.flops,
            "memory_bytes": total.memory_bytes,
            "complete": all(cost.is_known for cost in costs),
            "chip": table.chip and table.chip.name,
            "least_seconds": in_seconds(total.least_ps) if is_timed else None,
        }
        if costs
        else None,
        "measured": {
            "executions": table.executions,
            "own_ps": own_ps,
            "share": sum(map(table.share, rows)),
        }
        if own_ps
        else None,
    }


def allocation_json(dump: Compile, allocation: LocatedRecord[AllocationLine]) -> Json:
    """Return an allocation with the ids of its values."""
    record = allocation.record
    return {
        "kind": "allocation",
        "number": record.number,
        "size": record.size,
        "memory_space": record.color,
        "memory_space_name": _space_name(dump, record.color),
        **{key: getattr(record, key) for key in _ALLOCATION_KEYS},
        "values": [value.id for value in dump.assigned_to(allocation)],
        **_place(allocation),
    }


def dump_json(dump: Compile, file: DumpFile) -> Json:
    """Return a file with all values and allocations of its compile."""
    values = (dump.value(value_id) for value_id in dump.value_ids())
    return {
        "kind": "dump",
        "path": file.label,
        "file_kind": file.kind.value,
        "values": [value_json(dump, value) for value in values if value is not None],
        "allocations": [allocation_json(dump, allocation) for allocation in dump.allocations()],
        "live_ranges": {"max": dump.last_step, "declared_peak": dump.declared_peak},
        "total_bytes": dump.total_bytes,
    }


def stdout_dump_json(file: DumpFile, parts: Iterable[tuple[SectionFile, Json]]) -> Json:
    """Return the sections of a stdout dump with the lines that they start on."""
    return {
        "kind": "dump",
        "file_kind": file.kind.value,
        "path": file.label,
        "parts": [
            {**facts, "section": part.section.name, "line": part.first_line + 1}
            for part, facts in parts
        ],
    }


@query
def _value_ids_by_name(dump: Compile) -> dict[str, list[int]]:
    found: defaultdict[str, set[int]] = defaultdict(set)
    for file in dump.files:
        for assigned in file.memory.assigned.records():
            found[assigned.name].add(assigned.id)
        for entry in file.memory.entries.records():
            if entry.id is not None and entry.name is not None:
                found[entry.name].add(entry.id)
    return {name: sorted(ids) for name, ids in found.items()}


def _sizes(dump: Compile, text: str | None, value: Value | None, *, in_memory: bool) -> Json:
    """Return logical and padded bytes; the padded ones only if the rule is exact.

    Unless the result is in memory, only a tiled layout is reliable.
    """
    if text is None:
        return {"logical_bytes": None, "padded_bytes": None}
    sizes = sizes_of_text(text, target_of(dump), None if value is None else value.color)
    is_reliable = in_memory or "T(" in text
    padded = sizes.padded if is_reliable and sizes.padded and sizes.padded.exact else None
    return {
        "logical_bytes": sizes.logical,
        "padded_bytes": None if padded is None else padded.bytes,
    }


def _space_name(dump: Compile, number: int | None) -> str | None:
    return None if number is None else space_name(number, target_of(dump).backend)


def _live_range(value: Value) -> list[int] | None:
    live = None if value.live is None else value.live.record
    return None if live is None else [live.start_step, live.end_step]


def _allocation_number(value: Value) -> int | None:
    return None if value.allocation is None else value.allocation.record.number


def _place(located: LocatedRecord[Record] | None) -> Json:
    return {"path": located and located.file.label, "line": located and located.number}


def _source(
    dump: Compile, name: str, metadata: Mapping[str, str], owner: InstructionFacts | None
) -> Json:
    """Return the operation and the Python line of an owner, without one those of metadata."""
    if owner is not None:
        op_name, source, origin = owner.op_name, owner.source, owner.metadata_from
    else:  # no module text has the instruction
        op_name, source = metadata.get("op_name", ""), dump.frames.line_of(dump.stack_of(metadata))
        origin = name if metadata else ""
    return {
        "op_name": op_name or None,
        "source": None if source is None else {"file": source.file, "line": source.line},
        "metadata_from": origin or None,
    }
