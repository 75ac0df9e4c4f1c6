"""Why a collective overlaps with no computation."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from hlo_lsp.background_jobs import cached_property, checkpoint
from hlo_lsp.cost.chips import Chip
from hlo_lsp.cost.executed import InstructionCost
from hlo_lsp.cost.operation import NO_COST
from hlo_lsp.cost.program_cost import ProgramCost
from hlo_lsp.cost.roofline import least_time
from hlo_lsp.hlo.vocabulary import read_toml
from hlo_lsp.memory.savings import Proof
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.flags import LIBTPU_OPTIONS, flags_of
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.padded_sizes import total_array_bytes
from hlo_lsp.model.shape import try_shape
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
_LEAST_OFFLOADED = "xla_tpu_sparse_core_{}_offload_min_size_in_bytes"
# These chips have no asynchronous collectives of these kinds but those in fusions with products.
_ONLY_WITH_PRODUCTS = frozenset({"v5e"})
_WITHOUT_AUTO_OFFLOAD = frozenset({"v5e", "v6e", "v5p"})
_SCALAR = re.compile(r"\w+\[\]")
_LITTLE = 0.1  # of the time of a collective
_MUCH = 0.5  # of it is what libtpu 0.0.52 wants to cover in fusions
_ALLOWING = {"DISABLED": "ENABLED", "AUTO": "ENABLED", "false": "true"}
_NO_PRODUCT = "no product of matrices can run meanwhile"
_ONLY_LOOPS = "only loops and calls can run meanwhile, which cover none on this chip"
_TAKEN = "the products of matrices meanwhile cover other collectives"


@dataclass(frozen=True, slots=True)
class ExposureCause:
    """Why a collective is exposed.

    Attributes:
        kind: ``dependency`` if too little of its computation could run meanwhile, as the rest
            depends on it, or it on the rest; ``option`` if it is synchronous, and options of the
            compiler forbid that it is asynchronous; ``compiler`` if it would be synchronous with
            all options; else ``unknown``.
        option: The options with their values, separated by commas.
        instruction: The first instruction that needs the result, None if only the caller does.
        independent_ps: The least time of the work that could run meanwhile, None if it is unknown.
        least_ps: The least time of the collective on the network, None if it is unknown.
        proven: The numbers of synchronous collectives of these kinds with other options, None if
            the compiler was not asked.
        reason: Why computation that could run meanwhile does not help, or what the compiler does.
    """

    kind: str
    option: str | None = None
    instruction: str | None = None
    independent_ps: float | None = None
    least_ps: float | None = None
    proven: Proof | None = None
    reason: str = ""

    @property
    def text(self) -> str:
        """The cause as a phrase, empty if it is unknown."""
        verdict = "" if self.proven is None else _verdict(self.proven)
        parts = [self.option or "", self.reason, verdict]
        if self.kind == "dependency":
            parts.insert(0, f"{self.instruction} needs it" if self.instruction else "")
            parts.append("" if any(parts) else "nothing else can run meanwhile")
        return "; ".join(filter(None, parts))


def allowing_options(option: str) -> dict[str, str]:
    """Return the options of a cause with values that allow asynchronous collectives."""
    pairs = (one.split(": ") for one in option.split(", "))
    return {name: "0" if value.isdecimal() else _ALLOWING[value] for name, value in pairs}


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
    meanwhile = _Meanwhile.of(program, file.module, collective)
    return _Exposed(program, collective, kind, least_ps, others, meanwhile).cause


@dataclass(frozen=True, slots=True)
class _Meanwhile:
    """The instructions that can run during a collective, by the data that it needs.

    Attributes:
        free: The instructions of its computation that neither need it nor make its data.
        is_loop_free: Whether a loop or a call is among them.
        has_long: Whether its computation has loops, calls, or products of matrices.
        user: The first instruction that needs its result, None if only the caller does.
    """

    free: list[InstructionCost]
    is_loop_free: bool
    has_long: bool
    user: str | None

    @classmethod
    def of(
        cls, program: ProgramCost, module: ModuleIndex, collective: InstructionLine
    ) -> "_Meanwhile":
        after = _reached(collective, module.users)
        dependent = after | _reached(collective, module.operands) | {collective.printed}
        home = module.computation_of(collective)
        members = () if home is None else module.members(home)
        calls = [one for one in members if one.opcode in _CALLS]
        rows = [row for row in program.executed.instructions if row.computation is home]
        users = (one.name for one in members if one in after and not _is_step(one))
        return cls(
            [row for row in rows if row.instruction not in dependent],
            not dependent.issuperset(calls),
            bool(calls) or any(map(_is_product, rows)),
            next(users, None),
        )


@dataclass(frozen=True)
class _Exposed:
    """An exposed collective, and the rules that name its cause."""

    program: ProgramCost
    collective: InstructionLine
    kind: str
    least_ps: float | None
    others: Sequence[AsyncOperation]
    meanwhile: _Meanwhile

    @property
    def cause(self) -> ExposureCause:
        if _is_less(self._work_ps, _LITTLE, self.least_ps):
            return self._dependency(self._shortage(self._work_ps))
        if self._lacks_product:
            reason = _ONLY_LOOPS if self.meanwhile.is_loop_free else _NO_PRODUCT
            return self._dependency(self._shortage(self._work_ps) or reason)
        if habit := _habit(self.program, self.collective, self.kind):
            return replace(self._cause("compiler"), reason=habit)
        if self._needs_product and (reason := self._lack_of_spare()):
            return self._dependency(reason)
        if options := _forbidding_options(self.program, self.collective, self.kind):
            return replace(self._cause("option"), option=", ".join(options))
        shortage = self._shortage(self._work_ps)
        return self._dependency(shortage) if shortage else self._cause("unknown")

    def _cause(self, kind: str) -> ExposureCause:
        return ExposureCause(kind, None, None, self._work_ps, self.least_ps)

    def _dependency(self, reason: str) -> ExposureCause:
        return replace(self._cause("dependency"), instruction=self.meanwhile.user, reason=reason)

    @cached_property
    def _work_ps(self) -> float | None:
        """The least time of what can run meanwhile, None if it is unknown, as that of a loop."""
        free = self.meanwhile.free
        return None if self.meanwhile.is_loop_free else _work_ps(free, self.program.chip)

    @cached_property
    def _products(self) -> list[InstructionCost]:
        return list(filter(_is_product, self.meanwhile.free))

    @property
    def _needs_product(self) -> bool:
        """True if only a product of matrices can cover it."""
        return self.kind in _OFFLOADABLE and _chip_name(self.program) in _ONLY_WITH_PRODUCTS

    @property
    def _lacks_product(self) -> bool:
        """True if only operations that are shorter than products could cover it."""
        if self._products or (self.meanwhile.is_loop_free and not self._needs_product):
            return False
        return self.meanwhile.has_long or self._needs_product

    def _lack_of_spare(self) -> str:
        """Return why products that cover no other collective are too few, empty if they are not."""
        spare = _spare(self._products, [one for one in self.others if one.is_fused])
        if not spare:
            return _TAKEN
        spare_ps = _work_ps(spare, self.program.chip)
        return self._shortage(spare_ps) if _is_less(spare_ps, _MUCH, self.least_ps) else ""

    def _shortage(self, work: float | None) -> str:
        """Return how much of the collective work can cover, empty if all or unknown."""
        if not work or not _is_less(work, 1, self.least_ps):
            return ""
        return f"at most {format_time(work)} of {format_time(self.least_ps or 0)} could overlap"


def _habit(program: ProgramCost, collective: InstructionLine, kind: str) -> str:
    """Return why a compiler makes a collective synchronous with all options, empty if it does not.

    No dump for CPUs has an asynchronous collective. For TPU v5e, according to compiles with
    libtpu 0.0.52.
    """
    if collective.opcode.endswith(ASYNC_ENDINGS):
        return ""
    if program.dump.backend is Backend.CPU:
        return "XLA makes no collective asynchronous on CPUs"
    what = _special_sum(collective, kind)
    is_kept = what and _chip_name(program) in _ONLY_WITH_PRODUCTS
    return f"XLA makes no {what} asynchronous on this chip" if is_kept else ""


def _special_sum(collective: InstructionLine, kind: str) -> str:
    """Return the kind of a sum that options for all-reduces do not concern, empty for others."""
    if kind not in REDUCTIONS:
        return ""
    if _SCALAR.match(collective.shape):
        return "sum of a scalar"
    return "sum of several arrays" if collective.shape.startswith("(") else ""


def _spare(
    products: Iterable[InstructionCost], others: Sequence[AsyncOperation]
) -> list[InstructionCost]:
    """Return the products of matrices that cover no other collective in a fusion.

    On TPU v5e, a product covers one: other options make another collective asynchronous instead
    (programs compiled with libtpu 0.0.52).
    """
    spans = [(one.start.line, one.done.line) for one in others]
    lines = ((row, row.instruction.line) for row in products)
    return [row for row, line in lines if not any(start < line < end for start, end in spans)]


def _forbidding_options(program: ProgramCost, collective: InstructionLine, kind: str) -> list[str]:
    """Return the options, with their values, because of which a collective is synchronous."""
    if collective.opcode.endswith(ASYNC_ENDINGS):
        return []
    options, chip = _options(program), _chip_name(program)
    if name := _offload_option(program, kind):
        found = [] if _offloads(options[name], chip) else [name]
        least = _LEAST_OFFLOADED.format(kind.replace("-", "_"))
        size = total_array_bytes(try_shape(collective.shape))
        if options.get(least, "").isdecimal() and size < int(options[least]):
            found.append(least)
    elif _special_sum(collective, kind):
        found = []
    else:
        known = read_toml("compiler_options").items()
        own = [(name, option) for name, option in known if kind in option.get("collectives", ())]
        found = [name for name, option in own if options.get(name) in option.get("forbids", ())]
    return [f"{name}: {options[name]}" for name in found]


def _options(program: ProgramCost) -> dict[str, str]:
    return flags_of(program.dump).get(LIBTPU_OPTIONS, {})


def _offload_option(program: ProgramCost, kind: str) -> str | None:
    """Return the option that lets sparse cores run a kind of collectives, None without them."""
    name = f"{_OFFLOAD}{kind.replace('-', '_')}"
    can = kind in _OFFLOADED.get(_chip_name(program), ()) and name in _options(program)
    return name if can else None


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


def _is_product(row: InstructionCost) -> bool:
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
