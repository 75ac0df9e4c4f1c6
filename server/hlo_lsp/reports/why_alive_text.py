"""Why a buffer is alive, as a card and as JSON."""

from collections.abc import Iterator, Sequence

from hlo_lsp.display.cards import Card, Fact
from hlo_lsp.display.phrases import count_noun, join_limited
from hlo_lsp.hlo.notation import index_text
from hlo_lsp.memory.occupied_steps import occupied_steps
from hlo_lsp.memory.why_alive import BufferUse, Lifetime, buffer_donation
from hlo_lsp.model.backend import space_title
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.place import Value
from hlo_lsp.program.donation import DonationStatus
from hlo_lsp.program.instruction_owners import owner_of
from hlo_lsp.program.phases import is_backward_pass
from hlo_lsp.reports.summary_text import origin_json
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.text.amounts import format_bytes, format_short_bytes
from hlo_lsp.text.inert import Json

_MAX_LISTED_USES = 8
_LIFETIME_KEYS = (
    *("origin", "uses", "last_consumer", "waits_for", "is_output", "is_copied_to_output", "pass"),
    *("rematerialized", "offloaded", "donation"),
)


def lifetime_card(
    dump: Compile, value: Value, lifetime: Lifetime | None, others: Sequence[Value] = ()
) -> Card:
    """Return why a value is alive; without a lifetime, what is known.

    ``others`` are the other values of the same instruction.
    """
    title = _key(value)
    facts = [Fact("buffer", ", ".join(_buffer(dump, value)))]
    if lifetime is None:
        return Card(title, (*facts, *_printed_facts(dump, value)))
    if lifetime.origin is not None:
        facts += _origin_facts(dump, lifetime)
    facts.append(Fact("kept for", kept_for(dump, value, lifetime)))
    awaited = lifetime.awaited
    if awaited is not None and _owner_of_buffer(dump, value, lifetime) is None:
        text = f"step {awaited.step:,}, {_named(dump, awaited.instruction)}"
        facts.append(Fact("which waits for", text))
    facts.append(
        _uses_fact(
            [
                _at_step(use.step, use.instruction.name) + (" (copy)" if use.is_copy else "")
                for use in lifetime.uses
            ]
        )
    )
    if lifetime.origin is None or lifetime.origin.argument is None:
        again = "yes: it is computed a second time" if lifetime.is_rematerialized else "no"
        offloaded = "yes: to host memory" if lifetime.is_offloaded else "no"
        facts += [Fact("rematerialized", again), Fact("offloaded", offloaded)]
    donation = buffer_donation(dump, value)
    if donation is not None:
        facts.append(_donation_fact(dump, value, donation))
    if others:
        names = [f"{_key(other)} {_size(other)}" for other in others]
        facts.append(Fact("other results", join_limited(names, 4)))
    return Card(title, tuple(facts))


def _key(value: Value) -> str:
    return f"`{value.label}`"


def _size(value: Value) -> str:
    return "" if value.size is None else format_short_bytes(value.size)


def lifetime_json(dump: Compile, value: Value, lifetime: Lifetime | None) -> Json:
    """Return why a value is alive as JSON; see docs/json_schema.md."""
    live = None if value.live is None else value.live.record
    facts: Json = {
        "id": value.id,
        "name": value.name,
        "index": value.index,
        "shape": dump.shape_text(value),
        "size": value.size,
        "memory_space": value.color,
        "live_range": None if live is None else [live.start_step, live.end_step],
        "at_peak": _is_live_at_peak(dump, value),
    }
    if lifetime is None:
        return {**facts, **dict.fromkeys(_LIFETIME_KEYS)}
    last, awaited, donation = lifetime.last_consumer, lifetime.awaited, buffer_donation(dump, value)
    return {
        **facts,
        "origin": origin_json(lifetime.origin),
        "uses": [_use_json(use) for use in lifetime.uses],
        "last_consumer": None if last is None else _use_json(last),
        "waits_for": None
        if awaited is None
        else {"instruction": awaited.instruction.name, "step": awaited.step},
        "is_output": lifetime.is_output,
        "is_copied_to_output": lifetime.is_copied_to_output,
        "pass": _pass(lifetime.is_backward),
        "rematerialized": lifetime.is_rematerialized,
        "offloaded": lifetime.is_offloaded,
        "donation": None
        if donation is None
        else {
            "donated": donation.is_donated,
            "output": None if donation.output is None else list(donation.output),
            "reason": None if donation.output is not None else describe_donation(donation),
        },
    }


def _use_json(use: BufferUse) -> Json:
    return {
        "instruction": use.instruction.name,
        "opcode": use.instruction.opcode,
        "step": use.step,
        "through": use.copy,
        "is_copy": use.is_copy,
    }


def _buffer(dump: Compile, value: Value) -> Iterator[str]:
    if value.size is not None:
        yield f"{format_bytes(value.size)} in {space_title(value.space or 0, dump.backend)}"
    if value.live is None:
        yield "live range unknown"
        return
    live = value.live.record
    last = "" if dump.last_step is None else f" of {dump.last_step:,}"
    yield f"steps {live.start_step:,}-{live.end_step:,}{last}"
    steps = occupied_steps(dump, value)
    if steps is None or steps.peak_step is None:
        return
    if steps.is_fixed:
        yield "its bytes are occupied during the whole program"
    else:
        yield "live at the peak" if steps.is_at_peak else "not live at the peak"


def _is_live_at_peak(dump: Compile, value: Value) -> bool | None:
    """Return whether a value is live at the peak of its memory space; None if unknown."""
    steps = occupied_steps(dump, value)
    if steps is None or steps.peak_step is None:
        return None
    return steps.first <= steps.peak_step <= steps.last


def _origin_facts(dump: Compile, lifetime: Lifetime) -> list[Fact]:
    origin = lifetime.origin
    assert origin is not None
    if origin.argument is not None:
        facts = [Fact("holds", f"argument `{origin.argument}`")]
    else:
        record = origin.instruction.record
        own = dump.step(record.name)
        row = own or next(filter(None, map(dump.step, reversed(origin.via))), None)
        made = "" if row is None else f"step {row.record.step:,}, "
        if row is not None and own is None:
            made += f"`{row.record.name}`: "
        facts = [Fact("computed by", f"{made}`{record.name}` ({record.opcode})")]
        which = _pass(lifetime.is_backward)
        words = [f"`{origin.op_name}`" if origin.op_name else "", f"{which} pass" if which else ""]
        if any(words):
            facts.append(Fact("op_name", ", ".join(filter(None, words)).replace("\\'", "'")))
        if origin.source is not None:
            facts.append(Fact("source", f"{origin.source}{origin.saving}", origin.source))
    if origin.via:
        facts.append(Fact("moved by", join_limited([f"`{name}`" for name in origin.via], 4)))
    return facts


def kept_for(dump: Compile, value: Value, lifetime: Lifetime, *, is_short: bool = False) -> str:
    """Return the reason why a buffer is kept, such as the last instruction that reads it.

    If ``is_short``, the Python line is without the folder of its file.
    """
    owner = _owner_of_buffer(dump, value, lifetime)
    if owner is not None:
        return owner
    if lifetime.last_consumer is None:
        return "nothing: no instruction reads it"
    return _consumer(dump, lifetime.last_consumer, lifetime, is_short=is_short)


def _owner_of_buffer(dump: Compile, value: Value, lifetime: Lifetime) -> str | None:
    """Return who keeps a buffer although no instruction reads it, None if nobody does."""
    allocation = None if value.allocation is None else value.allocation.record
    if allocation is not None and allocation.constant:
        return "the whole program: it is a constant"
    if lifetime.is_output:
        return "the caller: it is an output"
    is_argument = allocation is not None and allocation.parameter is not None
    if is_argument and value.live is not None and value.live.record.end_step == dump.last_step:
        return "the caller, which owns the buffer of an argument that is not donated"
    return None


def _consumer(dump: Compile, last: BufferUse, lifetime: Lifetime, *, is_short: bool) -> str:
    """Return the last consumer as text."""
    step = "" if last.step is None else f"step {last.step:,}, "
    text = f"{step}{_named(dump, last.instruction, is_short=is_short)}"
    if last.copy is not None:
        copy, line = dump.step(last.copy), dump.instruction(last.copy)
        when = "" if copy is None else f" at step {copy.record.step:,}"
        is_start = line is not None and line.record.opcode == "copy-start"
        does = "starts" if is_start else "makes"
        text += f", which reads the copy that `{last.copy}` {does}{when}"
    elif last.is_copy and lifetime.is_copied_to_output:
        text += ", which copies it to an output"
    return text


def _printed_facts(dump: Compile, value: Value) -> list[Fact]:
    """Return what XLA printed about the uses of a value that no module text defines."""
    if value.entry is None:
        return [Fact("uses", "unknown: the module text and the list of used values are missing")]
    found = {use.name: dump.step(use.name) for use in value.entry.record.uses}
    steps = {name: -1 if row is None else row.record.step for name, row in found.items()}
    ordered = sorted(steps, key=steps.__getitem__)
    return [_uses_fact([_at_step(steps[name], name) for name in ordered])]


def _at_step(step: int | None, name: str) -> str:
    return f"`{name}`" if step is None or step < 0 else f"{step:,} `{name}`"


def _uses_fact(texts: list[str]) -> Fact:
    if not texts:
        return Fact("uses", "none")
    count = count_noun(len(texts), "instruction")
    if len(texts) > _MAX_LISTED_USES:
        half = _MAX_LISTED_USES // 2
        texts = [*texts[:half], f"... {len(texts) - 2 * half:,} more ...", *texts[-half:]]
    return Fact("uses", f"{count}: {', '.join(texts)}")


def _named(dump: Compile, instruction: InstructionLine, *, is_short: bool = False) -> str:
    text = f"`{instruction.name}` ({instruction.opcode}"
    owner = owner_of(dump, instruction.name)
    source = None if owner is None else owner.source
    which = None if owner is None else _pass(is_backward_pass(owner.op_name))
    line = "" if source is None else source.short if is_short else str(source)
    more = [line, f"{which} pass" if which else ""]
    return ", ".join([text, *filter(None, more)]) + ")"


def _pass(is_backward: bool | None) -> str | None:
    if is_backward is None:
        return None
    return "backward" if is_backward else "forward"


def describe_donation(status: DonationStatus) -> str:
    """Return whether a parameter is donated, and why it is not used."""
    if status.output is not None:
        return f"yes, to output {index_text(status.output)}"
    if status.is_donated:
        return f"yes, but no output uses the buffer: {status.obstacle}"
    if status.fits is not None:
        output = index_text(status.fits)
        return f"no, although it fits output {output}: donate it with `donate_argnums`"
    return f"no: {status.obstacle}"


def _donation_fact(dump: Compile, value: Value, status: DonationStatus) -> Fact:
    """Return whether the buffer is donated; for other values than a parameter, with its owner."""
    text = describe_donation(status)
    line = dump.instruction(value.name)
    allocation = None if value.allocation is None else value.allocation.record
    if allocation is not None and line is not None and line.record.opcode != "parameter":
        text += f"; the buffer is that of parameter {allocation.parameter}"
    return Fact("donated", text)
