"""The donation of the arguments of a compile, as data, JSON, text, and Markdown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hlo_lsp.display.phrases import capitalized, count_noun, more_line
from hlo_lsp.display.table import Content, Table, markdown_blocks, markdown_table
from hlo_lsp.memory.donated_arguments import Argument, DonationState, donated_arguments
from hlo_lsp.memory.donation_losses import (
    CopiedDonation,
    DroppedDonation,
    copied_donations,
    dropped_donations,
)
from hlo_lsp.memory.donation_savings import IdleDonation, donation_saving, idle_donations
from hlo_lsp.memory.memory_analysis import memory_analysis
from hlo_lsp.memory.occupancy_and_peaks import memory_space_occupancies
from hlo_lsp.memory.savings import is_negligible
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.compile import Compile
from hlo_lsp.text.amounts import format_short_bytes
from hlo_lsp.text.inert import Json, markdown_code

_MIN_IDLE_BYTES = 1024


@dataclass(frozen=True, slots=True)
class DonationReport:
    """The arguments of a compile by donation, the largest first.

    Attributes:
        arguments: None without the text of the compiled module.
        idle: The donated arguments whose bytes are idle at the peak, with the reasons.
        dropped: The arrays of donated arguments that JAX does not donate, because no output fits.
        copied: The donated arguments that the program copies nevertheless.
        saves_bytes: By how much the peaks fall if the usable arguments are donated, None if the
            live ranges are unknown.
        analysis: ``argument_size_in_bytes`` and ``alias_size_in_bytes`` of ``memory_analysis()``;
            None if they are unknown.
    """

    path: str
    arguments: tuple[Argument, ...] | None
    spaces: dict[int, str]
    idle: tuple[IdleDonation, ...] = ()
    dropped: tuple[DroppedDonation, ...] = ()
    copied: tuple[CopiedDonation, ...] = ()
    saves_bytes: int | None = None
    analysis: tuple[int, int] | None = None

    @property
    def bytes(self) -> int:
        """The bytes of all arguments of known size."""
        return sum(one.bytes for one in self.arguments or ())

    def of(self, state: DonationState) -> list[Argument]:
        """Return the arguments in a state."""
        return [one for one in self.arguments or () if one.state is state]


def donation_report(dump: Compile, count: int) -> DonationReport:
    """Return the donation of the arguments, with the reasons of at most ``count`` idle ones."""
    path = dump.files[0].label
    arguments = donated_arguments(dump)
    spaces = {one.space: space_title(one.space, dump.backend) for one in arguments or ()}
    if arguments is None:
        return DonationReport(path, None, spaces)
    occupancies = memory_space_occupancies(dump)
    idle = [
        one
        for occupancy in occupancies
        for one in idle_donations(dump, occupancy.space, _MIN_IDLE_BYTES, count)
    ]
    usable = [one for one in arguments if one.state is DonationState.USABLE]
    saved = sum(
        donation_saving(dump, [one for one in usable if one.space == each.space], each)
        for each in occupancies
    )
    return DonationReport(
        path,
        arguments,
        spaces,
        tuple(idle),
        dropped_donations(dump, count),
        copied_donations(dump, _MIN_IDLE_BYTES, count),
        saved if occupancies else None,
        _analysis(dump),
    )


def _analysis(dump: Compile) -> tuple[int, int] | None:
    sizes = {one.key: one.bytes for one in memory_analysis(dump)}
    argument = sizes.get("argument_size_in_bytes")
    alias = sizes.get("alias_size_in_bytes")
    return None if argument is None or alias is None else (argument, alias)


def donation_content(report: DonationReport, count: int, title: str) -> Content:
    """Yield the text and the tables, with at most ``count`` arguments of each kind."""
    if report.arguments is None:
        yield f"{title}: no module text of the whole program, so the donation is unknown"
        return
    yield f"{title}: {_total(report.arguments)}"
    for state in DonationState:
        found = report.of(state)
        if found:
            yield f"{state.title}: {_total(found)}{_saving(report, state)}{_drop(report, state)}"
        if state is not DonationState.KEPT or _has_donation(report):
            small = {one for one in found if _is_small(report, one)}
            if len(small) == 1:  # its line can name it
                small.clear()
            shown = [one for one in found if one not in small][:count]
            rows = [
                (_size([argument]), f"`{argument.name}`", *_fate(report, argument))
                for argument in shown
            ]
            if rest := [one for one in found if one not in shown]:
                noun = "more argument" if rows else "argument"
                rows.append((_size(rest), count_noun(len(rest), noun), "", "", ""))
            titles = (">bytes", "argument", "shape", "output", "space")
            yield Table(titles, rows, has_titles=False)
    idle = [one for one in report.arguments if (one.idle_bytes or 0) >= _MIN_IDLE_BYTES]
    if idle:
        size = format_short_bytes(sum(one.idle_bytes or 0 for one in idle))
        yield f"donated, but idle at the peak: {count_noun(len(idle), 'argument')}, {size}"
    reasons = {one.argument: one for one in report.idle}
    rows = [
        (
            format_short_bytes(argument.idle_bytes or 0),
            f"`{argument.name}`",
            _idle_text(argument, reasons.get(argument)),
        )
        for argument in idle[:count]
    ]
    yield Table((">bytes", "argument", "idle at the peak"), rows, has_titles=False)
    yield from more_line(idle, count)
    yield from _copies_content(report)
    if report.analysis is not None:
        argument, alias = map(format_short_bytes, report.analysis)
        yield f"memory_analysis() of JAX: argument {argument} · alias {alias}"


def _copies_content(report: DonationReport) -> Content:
    """Yield the donated arguments that are copied."""
    if report.copied:
        arguments = list(dict.fromkeys(one.argument for one in report.copied))
        yield f"donated, but copied nevertheless: {_total(arguments)}"
        copies = [
            (_size([one.argument]), f"`{one.argument.name}`", _copy_text(one))
            for one in report.copied
        ]
        yield Table((">bytes", "argument", "copy"), copies, has_titles=False)


def _copy_text(one: CopiedDonation) -> str:
    """Return what copies an argument, what reads the copy, and what takes its bytes."""
    text = f"`{one.copy.instruction.name}` copies it{_at(one.copy.step)}"
    if one.reader is None:
        text += "; nothing else reads the copy"
    else:
        place = "" if one.source is None else f" ({one.source.short})"
        name, when = one.reader.instruction.name, _at(one.reader.step)
        text += f" for `{name}`{place}, which reads the copy{when}"
    if one.writer is None:
        return text
    return f"{text}; `{one.writer[0]}` writes to the argument{_at(one.writer[1])}"


def _at(step: int | None) -> str:
    return "" if step is None else f" at step {step:,}"


def _shape(argument: Argument) -> str:
    return f"`{argument.shape}`" if argument.shape else "tuple table"


def _is_small(report: DonationReport, argument: Argument) -> bool:
    """Return whether an argument has less than 1% of the bytes of all, such as a scalar.

    A donation without effect, which JAX warns about, is never small.
    """
    if argument.state is DonationState.UNUSED or not argument.is_size_known:
        return False
    return is_negligible(argument.bytes, report.bytes, 1)


def _fate(report: DonationReport, argument: Argument) -> tuple[str, ...]:
    """Return the shape of an argument, its output or the reason for none, and its memory space."""
    space = report.spaces[argument.space] if len(report.spaces) > 1 else ""
    return (
        _shape(argument),
        argument.use or _dropped_text(report, argument),
        space and f"in {space}",
    )


def _dropped_text(report: DonationReport, argument: Argument) -> str:
    """Return why an array of a donated argument is not donated, empty for others."""
    found = next((one for one in report.dropped if one.argument == argument), None)
    if found is None:
        return ""
    reason = "" if found.reason is None else f": {found.reason}"
    return f"dropped, other arrays of `{found.donor}` are donated{reason}"


def _idle_text(one: Argument, idle: IdleDonation | None) -> str:
    text = f"idle {one.idle_text}"
    if idle is None:
        return text
    if idle.instruction is None:
        return f"{text}: {idle.reason}"
    at = "" if idle.step is None else f" at step {idle.step:,}"
    return f"{text}: last read by `{idle.instruction.name}`{at}; {idle.reason}"


def _saving(report: DonationReport, state: DonationState) -> str:
    if state is not DonationState.USABLE or report.saves_bytes is None:
        return ""
    return f"; donating them saves about {format_short_bytes(report.saves_bytes)} at the peak"


def _drop(report: DonationReport, state: DonationState) -> str:
    if state is not DonationState.KEPT or not _has_donation(report):
        return ""
    return "; JAX drops a donation that no output can use, with a warning"


def _has_donation(report: DonationReport) -> bool:
    """Return whether the program donates an argument."""
    return any(one.is_donated for one in report.arguments or ())


def _total(arguments: Sequence[Argument]) -> str:
    return f"{count_noun(len(arguments), 'argument')}, {_size(arguments)}"


def _size(arguments: Sequence[Argument]) -> str:
    """Return the sum of the sizes, a lower bound if one is unknown."""
    size = format_short_bytes(sum(one.bytes for one in arguments))
    if all(one.is_size_known for one in arguments):
        return size
    return f"at least {size}" if any(one.is_size_known for one in arguments) else "unknown"


def donation_markdown(report: DonationReport, count: int, title: str) -> Iterator[str]:
    """Yield the lines of the Markdown form, with at most ``count`` arguments of each kind."""
    yield f"# Donation of {markdown_code(title)}"
    yield ""
    if report.arguments is None:
        yield "The donation is unknown without the module text of the whole program."
        return
    groups = [(capitalized(state.title), report.of(state)) for state in DonationState]
    groups.append(("All", list(report.arguments)))
    sums = [(title, f"{len(group):,}", _size(group)) for title, group in groups]
    yield from markdown_table(Table(("state", ">arguments", ">bytes"), sums))
    idle = {one.argument: one for one in report.idle}
    states = [DonationState.USABLE, DonationState.UNUSED, DonationState.DONATED]
    if _has_donation(report):
        states.append(DonationState.KEPT)
    for state in states:
        found = report.of(state)
        if not found:
            continue
        yield from ("", f"## {capitalized(state.title)}", "")
        rows = [
            (
                f"`{argument.name}`",
                _size([argument]),
                "  ".join(filter(None, _fate(report, argument))),
                _idle_text(argument, idle.get(argument))
                if (argument.idle_bytes or 0) >= _MIN_IDLE_BYTES
                else "",
            )
            for argument in found[:count]
        ]
        titles = ("argument", ">bytes", "shape and output", "idle at the peak")
        yield from markdown_table(Table(titles, rows))
    yield from markdown_blocks(_copies_content(report))


def donation_json(report: DonationReport) -> Json:
    """Return the donation as JSON; see docs/json_schema.md."""
    idle = {one.argument: one for one in report.idle}
    dropped = {one.argument: one for one in report.dropped}
    copied = {one.argument: one for one in report.copied}
    return {
        "path": report.path,
        "complete": report.arguments is not None
        and all(one.is_size_known for one in report.arguments),
        "totals": None
        if report.arguments is None
        else {
            "arguments": report.bytes,
            **{state.value: sum(one.bytes for one in report.of(state)) for state in DonationState},
            "idle": sum(one.idle_bytes or 0 for one in report.arguments),
        },
        "saves_bytes": report.saves_bytes,
        "arguments": [
            _argument_json(report, one, idle.get(one))
            | _losses_json(dropped.get(one), copied.get(one))
            for one in report.arguments or ()
        ],
    }


def _argument_json(report: DonationReport, one: Argument, idle: IdleDonation | None) -> Json:
    instruction = None if idle is None else idle.instruction
    return {
        "name": one.name,
        "parameter": one.parameter,
        "index": list(one.index),
        "shape": one.shape,
        "bytes": one.bytes if one.is_size_known else None,
        "space": report.spaces[one.space],
        "state": one.state.value,
        "output": None if one.output is None else list(one.output),
        "reason": one.reason,
        "idle_bytes": one.idle_bytes,
        "idle_steps": None if one.idle_steps is None else list(one.idle_steps),
        "idle_instruction": None if instruction is None else instruction.name,
        "idle_reason": None if idle is None else idle.reason,
    }


def _losses_json(dropped: DroppedDonation | None, copied: CopiedDonation | None) -> Json:
    reader = None if copied is None else copied.reader
    return {
        "dropped_from": None if dropped is None else dropped.donor,
        "dropped_reason": None if dropped is None else dropped.reason,
        "copied_by": None if copied is None else copied.copy.instruction.name,
        "copy_reader": None if reader is None else reader.instruction.name,
    }
