"""Why a collective overlaps with no computation."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.executed import InstructionCost
from hlo_lsp.cost.operation import NO_COST
from hlo_lsp.cost.program_cost import ProgramCost
from hlo_lsp.cost.roofline import least_time
from hlo_lsp.hlo.vocabulary import read_toml
from hlo_lsp.memory.savings import Proof
from hlo_lsp.model.flags import LIBTPU_OPTIONS, flags_of
from hlo_lsp.program.transfers import (
    ASYNC_ENDINGS,
    PLUMBING_OPCODES,
    REDUCTIONS,
    AsyncOperation,
)
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text.amounts import format_time

_CALLS = frozenset({"while", "call", "conditional"})  # of any length
_OFFLOAD = "xla_tpu_enable_sparse_core_collective_offload_"  # asynchronous without other options
_OFF = frozenset({"DISABLED", "false"})
_OFFLOADABLE = REDUCTIONS | {"all-gather"}
# The kinds that the option of each offloads, with no other one (libtpu 0.0.52).
_OFFLOADED = {"tpu7x": _OFFLOADABLE, "v6e": _OFFLOADABLE, "v5p": REDUCTIONS}
_ONLY_WITH_PRODUCTS = frozenset({"v5e"})  # are sums asynchronous, in fusions
_WITHOUT_AUTO_OFFLOAD = frozenset({"v5e", "v6e", "v5p"})
# Sums of a scalar are synchronous with all options, those of several arrays unless offloaded.
_SCALAR = re.compile(r"\w+\[\]")
_LITTLE = 0.1  # of the time of a collective
_ALLOWING = {"DISABLED": "ENABLED", "false": "true"}


@dataclass(frozen=True, slots=True)
class ExposureCause:
    """Why a collective is exposed.

    Attributes:
        kind: ``dependency`` if too little of its computation could run meanwhile, as the rest
            depends on it, or it on the rest; ``option`` if it is synchronous, and options of the
            compiler forbid that it is asynchronous; else ``unknown``.
        option: The options with their values, separated by commas.
        instruction: The first instruction that needs the result, None if only the caller does.
        independent_ps: The least time of the work that could run meanwhile, None if it is unknown.
        least_ps: The least time of the collective on the network, None if it is unknown.
        proven: The numbers of synchronous collectives of these kinds with other options, None if
            the compiler was not asked.
        is_taken: Whether the products of matrices meanwhile cover other collectives.
    """

    kind: str
    option: str | None = None
    instruction: str | None = None
    independent_ps: float | None = None
    least_ps: float | None = None
    proven: Proof | None = None
    is_taken: bool = False

    @property
    def text(self) -> str:
        """The cause as a phrase, empty if it is unknown."""
        if self.kind != "dependency":
            verdict = None if self.proven is None else _verdict(self.proven)
            return "; ".join(filter(None, (self.option, verdict)))
        parts = [f"{self.instruction} needs it"] if self.instruction else []
        if self.is_taken:
            parts.append("the products of matrices meanwhile cover other collectives")
        elif self.independent_ps and self.least_ps and self.independent_ps >= self.least_ps:
            parts.append("no product of matrices can run meanwhile")
        elif self.independent_ps and self.least_ps:
            times = f"{format_time(self.independent_ps)} of {format_time(self.least_ps)}"
            parts.append(f"at most {times} could overlap")
        return "; ".join(parts) or "nothing else can run meanwhile"


def allowing_options(option: str) -> dict[str, str]:
    """Return the options of a cause with values that allow asynchronous collectives."""
    pairs = (one.split(": ") for one in option.split(", "))
    return {name: _ALLOWING[value] for name, value in pairs}


def _verdict(proof: Proof) -> str:
    if proof.saved is None:
        return f"not compiled: {proof.problem}"
    verdict = "confirmed" if proof.saved > 0 else "not confirmed"
    return f"{verdict} by compiling: {proof.before:,} -> {proof.after:,} synchronous"


def exposure_cause(
    program: ProgramCost,
    collective: InstructionLine,
    kind: str,
    least_ps: float | None = None,
    others: Sequence[AsyncOperation] = (),
) -> ExposureCause:
    """Return why a collective is exposed.

    Args:
        program: The cost of the program.
        collective: The collective, or its start.
        kind: Its kind, such as ``all-reduce``.
        least_ps: Its least time on the network in picoseconds, None if it is unknown.
        others: The other asynchronous operations of the program.
    """
    file = program.dump.module_file
    if file is None:
        return ExposureCause("unknown")
    module = file.module
    after = _reached(collective, module.users)
    dependent = after | _reached(collective, module.operands) | {collective.printed}
    home = module.computation_of(collective)
    members = () if home is None else module.members(home)
    calls = [one for one in members if one.opcode in _CALLS]
    rows = [row for row in program.executed.instructions if row.computation is home]
    free = [row for row in rows if row.instruction not in dependent]
    is_free = not dependent.issuperset(calls)
    work = None if is_free else _work_ps(free, program.chip)
    users = (one.name for one in members if one in after and not _is_step(one))
    dependency = ExposureCause("dependency", None, next(users, None), work, least_ps)
    is_fused = kind in REDUCTIONS and _chip_name(program) in _ONLY_WITH_PRODUCTS
    has_long = calls or is_fused or any(map(_is_long, rows))
    if _is_less(work, _LITTLE, least_ps) or (
        has_long and not is_free and not any(map(_is_long, free))
    ):
        return dependency
    options = _forbidding_options(program, collective, kind)
    if options and kind in _OFFLOADABLE and _is_covered(program, free, others):
        return replace(dependency, is_taken=True)
    if options:
        return ExposureCause("option", ", ".join(options), None, work, least_ps)
    if _is_less(work, 1, least_ps):
        return dependency
    return ExposureCause("unknown", None, None, work, least_ps)


def _is_covered(
    program: ProgramCost, free: Iterable[InstructionCost], others: Iterable[AsyncOperation]
) -> bool:
    """Return whether each product of matrices covers another collective; it covers one.

    According to programs that libtpu 0.0.52 compiled with other options: then, it made other
    collectives synchronous.
    """
    if _chip_name(program) not in _ONLY_WITH_PRODUCTS:
        return False
    fused = [(one.start.line, one.done.line) for one in others if one.is_fused]
    lines = [row.instruction.line for row in free if _is_long(row)]
    return all(any(start < line < end for start, end in fused) for line in lines) and bool(lines)


def _forbidding_options(program: ProgramCost, collective: InstructionLine, kind: str) -> list[str]:
    """Return the options, with their values, because of which a collective is synchronous."""
    options = flags_of(program.dump).get(LIBTPU_OPTIONS, {})
    is_sum, shape = kind in REDUCTIONS, collective.shape
    if collective.opcode.endswith(ASYNC_ENDINGS) or (is_sum and _SCALAR.match(shape)):
        return []
    name, chip = f"{_OFFLOAD}{kind.replace('-', '_')}", _chip_name(program)
    if name in options and kind in _OFFLOADED.get(chip, ()):
        return [] if _offloads(options[name], chip) else [f"{name}: {options[name]}"]
    if _offloads(options.get(name, "DISABLED"), chip) or (is_sum and shape.startswith("(")):
        return []
    known = read_toml("compiler_options").items()
    own = [(name, option) for name, option in known if kind in option.get("collectives", ())]
    found = [name for name, option in own if options.get(name) in option.get("forbids", ())]
    return [f"{name}: {options[name]}" for name in found]


def _chip_name(program: ProgramCost) -> str:
    return "" if program.chip is None else program.chip.name


def _offloads(value: str, chip: str) -> bool:
    """Return whether a value of an option can offload collectives on a chip."""
    return value not in _OFF and not (value == "AUTO" and chip in _WITHOUT_AUTO_OFFLOAD)


def _is_less(work: float | None, share: float, least_ps: float | None) -> bool:
    """Return whether work takes less than a share of a time, or nothing."""
    return work is not None and (work == 0 or work < share * (least_ps or 0))


def _work_ps(rows: Iterable[InstructionCost], chip: Chip | None) -> float | None:
    """Return the least time of instructions without transfers, None if it is unknown."""
    if any(row.cost is None for row in rows):
        return None
    work = [row for row in rows if row.cost != NO_COST and not row.wire_bytes]
    work = [row for row in work if not _is_step(row.instruction)]
    if chip is None:
        return None if work else 0.0
    return sum((least_time(row, chip).ps for row in work), 0.0)


def _is_long(row: InstructionCost) -> bool:
    """Return whether an instruction has products of matrices, perhaps in a custom call."""
    is_call = row.instruction.opcode == "custom-call" and row.cost != NO_COST
    return bool(row.products) or is_call


def _is_step(one: InstructionLine) -> bool:
    return one.opcode in PLUMBING_OPCODES or one.opcode.endswith(ASYNC_ENDINGS)


def _reached(
    start: InstructionLine,
    step: Callable[[InstructionLine], Iterable[InstructionLine | None]],
) -> set[InstructionLine]:
    """Return the printed instructions that can be reached from one by steps."""
    found: set[InstructionLine] = set()
    waiting = [start]
    while waiting:
        checkpoint()
        for one in step(waiting.pop()):
            if one is not None and one not in found:
                found.add(one)
                waiting.append(one)
    return {one.printed for one in found} - {start}
