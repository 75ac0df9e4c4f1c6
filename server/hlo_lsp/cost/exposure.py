"""Why a collective overlaps with no computation."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.cost.program_cost import ProgramCost
from hlo_lsp.hlo.vocabulary import read_toml
from hlo_lsp.model.flags import LIBTPU_OPTIONS, flags_of
from hlo_lsp.program.transfers import ASYNC_ENDINGS, PLUMBING_OPCODES
from hlo_lsp.syntax.module_records import InstructionLine

_CALLS = frozenset({"while", "call", "conditional", "custom-call"})  # with products, perhaps
_OFFLOAD = "xla_tpu_enable_sparse_core_collective_offload_"  # asynchronous without other options
_OFF = frozenset({"DISABLED", "false"})


@dataclass(frozen=True, slots=True)
class ExposureCause:
    """Why a collective is exposed.

    Attributes:
        kind: ``dependency`` if it depends on all products of matrices and all calls of its
            computation, or they on it, and there are some; ``option`` if it is synchronous, and
            options of the compiler forbid that it is asynchronous; else ``unknown``.
        option: The options with their values, separated by commas.
        instruction: The first instruction that needs the result.
    """

    kind: str
    option: str | None = None
    instruction: str | None = None

    @property
    def text(self) -> str:
        """The cause as a phrase, empty if it is unknown."""
        return self.option or (f"{self.instruction} needs it" if self.instruction else "")


def exposure_cause(program: ProgramCost, collective: InstructionLine, kind: str) -> ExposureCause:
    """Return why a collective of this kind, such as ``all-reduce``, is exposed."""
    file = program.dump.module_file
    if file is None:
        return ExposureCause("unknown")
    module = file.module
    after = _reached(collective, module.users)
    dependent = after | _reached(collective, module.operands)
    home = module.computation_of(collective)
    rows = [row for row in program.executed.instructions if row.computation is home]
    long = [row.instruction for row in rows if row.products or row.instruction.opcode in _CALLS]
    if long and dependent.issuperset(long):
        for one in (row.instruction for row in rows if row.instruction in after):
            if one.opcode not in PLUMBING_OPCODES and not one.opcode.endswith(ASYNC_ENDINGS):
                return ExposureCause("dependency", instruction=one.name)
    options = flags_of(program.dump).get(LIBTPU_OPTIONS, {})
    offload = options.get(f"{_OFFLOAD}{kind.replace('-', '_')}", "DISABLED")
    if collective.opcode.endswith(ASYNC_ENDINGS) or offload not in _OFF:
        return ExposureCause("unknown")
    forbidding = [
        f"{name}: {options[name]}"
        for name, option in read_toml("compiler_options").items()
        if kind in option.get("collectives", ()) and options.get(name) in option["forbids"]
    ]
    return ExposureCause("option" if forbidding else "unknown", ", ".join(forbidding) or None)


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
