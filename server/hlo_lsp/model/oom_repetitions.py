"""Repetitions of out-of-memory messages in a log, from hosts or nested exceptions."""

from dataclasses import replace

from hlo_lsp.model.oom_message import OomKind, OomMessage

_MAX_COMPARED_MESSAGES = 20  # repetitions of a message are close to each other


def without_repetitions(messages: list[OomMessage]) -> list[OomMessage]:
    """Merge messages that a log contains several times."""
    found: list[OomMessage] = []
    for message in messages:
        for place in range(max(0, len(found) - _MAX_COMPARED_MESSAGES), len(found)):
            merged = _merged(found[place], message)
            if merged is not None:
                found[place] = merged
                break
        else:
            found.append(message)
    return found


def _merged(one: OomMessage, other: OomMessage) -> OomMessage | None:
    """Return one message for two with the same first sentence, or None."""
    # The allocator names the memory; the exception that follows may not.
    kinds = {one.kind, other.kind}
    is_host = kinds == {OomKind.HOST, OomKind.GPU} and OomKind.HOST is one.kind
    is_same = (len(kinds) == 1 or is_host) and one.module in {None, other.module, one.module}
    if not is_same or (one.module and other.module and one.module != other.module):
        return None
    if is_host:
        needed = [size.bytes for size in (one.needed, other.needed) if size is not None]
        is_equal = len(needed) == 2 and needed[0] == needed[1]
        return one if is_equal and not other.entries else None
    sizes = ((one.needed, other.needed), (one.limit, other.limit))
    if any((a is None) != (b is None) for a, b in sizes):
        return None
    if any(
        a is not None and b is not None and abs(a.bytes - b.bytes) > max(a.error, b.error)
        for a, b in sizes
    ):
        return None
    if one.needed is None and (one.entries or other.entries):
        return None
    if one.entries and other.entries and _shapes(one) != _shapes(other):
        return None
    best = max(one, other, key=lambda each: (len(each.entries), len(each.usage_rows)))
    module = one.module or other.module
    return replace(best, module=module, first=one.first)


def _shapes(message: OomMessage) -> list[tuple[int, str | None]]:
    return [(entry.rank, entry.shape) for entry in message.entries]
