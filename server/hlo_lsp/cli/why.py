"""``hlo-lsp inspect PATH NAME``: explain why a buffer is alive."""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator

from hlo_lsp.cli.dumps import dumps_at, near_names
from hlo_lsp.cli.errors import NOT_FOUND_STATUS, CommandError
from hlo_lsp.cli.printing import print_card_answer, print_errors, print_json, print_missing
from hlo_lsp.display.cards import Card
from hlo_lsp.memory.missing_facts import missing_facts
from hlo_lsp.memory.why_alive import lifetime_of
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.place import LocatedRecord, Value
from hlo_lsp.reports.find import FindQuery, QueryKind, find_buffers
from hlo_lsp.reports.why_alive_text import lifetime_card, lifetime_json
from hlo_lsp.syntax.memory_records import AssignedValue
from hlo_lsp.text.amounts import format_short_bytes
from hlo_lsp.text.inert import Json
from hlo_lsp.text.remote import shown

_MAX_ID_DIGITS = 20
_MAX_LISTED = 10  # compiles


Described = Callable[[Compile, str], tuple[Card, Json] | None]
"""Returns the card and the facts of an instruction or a computation of a compile."""


def explain(options: argparse.Namespace, describe: Described) -> int:
    """Print why a buffer is alive, and describe its instruction; return the exit status."""
    errors: list[str] = []
    found: list[tuple[Compile, list[Value]]] = []
    names: set[str] = set()
    described: tuple[Card, Json] | None = None
    for dump in dumps_at([options.path], errors):
        names.update(each.record.name for each in _assigned(dump))
        values = values_of_name(dump, options.name)
        if values:
            found.append((dump, values))
        elif described is None:
            described = describe(dump, options.name.removeprefix("%"))
    found.sort(key=lambda one: -_size(one))
    if options.format == "json" and found:
        facts = [
            {**lifetime_json(dump, value, lifetime_of(dump, value)), "path": dump.files[0].label}
            for dump, values in found
            for value in values
        ]
        instruction = describe(found[0][0], found[0][1][0].name)
        more = {} if instruction is None else {"instruction": instruction[1]}
        print_json({"values": facts, **more})
    elif len(set(map(_size, found))) > 1:
        count = f"{len(found):,} compiles have a buffer of `{options.name}`"
        message = f"{count}; give the path of one of them:"
        raise CommandError(message, rows=_several(found))
    elif found:
        dump, values = found[0]
        card = lifetime_card(dump, values[0], lifetime_of(dump, values[0]), values[1:])
        also = [f"also in {other.files[0].label}" for other, _ in found[1:]]
        print_card_answer(options.format, card, [f"in {dump.files[0].label}"], also)
        instruction = describe(dump, values[0].name)
        if instruction is not None:
            print()
            print_card_answer(options.format, instruction[0])
        print_missing(Counter(missing_facts(dump)), 1)
    elif described is not None and options.format == "json":
        print_json({"values": [], "instruction": described[1]})
    elif described is not None:
        print_card_answer(options.format, described[0])
    elif not errors:
        hint = near_names(options.name, names)
        message = f"{shown(options.path)}: no buffer or instruction `{options.name}`{hint}"
        raise CommandError(message, NOT_FOUND_STATUS)
    return print_errors(errors)


def _size(found: tuple[Compile, list[Value]]) -> int:
    """Return the size in bytes of the largest value of a name in a compile."""
    return found[1][0].size or 0


def _several(found: list[tuple[Compile, list[Value]]]) -> list[str]:
    """Return rows for compiles with buffers of different sizes."""
    lines = [
        f"  {format_short_bytes(_size(one))}  {one[0].files[0].label}"
        for one in found[:_MAX_LISTED]
    ]
    more = [f"  and {len(found) - _MAX_LISTED:,} more"] if len(found) > _MAX_LISTED else []
    return [*lines, *more]


def values_of_name(dump: Compile, name: str) -> list[Value]:
    """Return the values of a name, the largest first.

    Args:
        dump: The compile.
        name: The id of a value, an instruction such as ``fusion.40``, an instruction and a shape
            index such as ``fusion.40{0}``, or an argument, a Python line, a shape, or a scope as
            ``hlo-lsp find`` takes it.
    """
    if name.isdecimal() and len(name) < _MAX_ID_DIGITS:
        value = dump.value(int(name))
        return [] if value is None else [value]
    query = FindQuery.of(name)
    name = name.removeprefix("%")
    named, brace, index = name.partition("{")
    value = dump.value_at(named, brace + index) if brace else None
    if value is not None:
        return [value]
    records = [each.record for each in _assigned(dump) if each.record.name == name]
    if (not records and query.kind is not QueryKind.NAME) or "[" in name:
        return list(_searched(dump, query))
    arrays = [record for record in records if not record.shape.startswith("(")] or records
    values = [dump.value(record.id) for record in arrays] or [dump.value_at(name)]
    known = [value for value in values if value is not None]
    return sorted(known, key=lambda value: -(value.size or 0))


def _searched(dump: Compile, query: FindQuery) -> Iterator[Value]:
    """Yield the values that a query finds, the largest first."""
    for one in find_buffers(dump, query).buffers:
        name, brace, index = one.name.partition("{")
        value = dump.value_at(name, brace + index) if brace else dump.value_at(name)
        if one.bytes and one.match == 0 and value is not None:
            yield value


def _assigned(dump: Compile) -> Iterator[LocatedRecord[AssignedValue]]:
    for file in dump.files:
        for record in file.memory.assigned.firsts():
            yield LocatedRecord(file, record)
