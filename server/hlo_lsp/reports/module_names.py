"""Names of compiles that differ: with their number, and the first parameter that differs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from hlo_lsp.display.phrases import count_noun, join_limited
from hlo_lsp.model.backend import Backend
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.file_names import DumpName
from hlo_lsp.program.donation import argument_name, donated_parameters

_EMPTY_MESH = "{mesh[],"  # which shards nothing


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an entry computation; ``name`` is that of the argument, if it is known."""

    name: str
    shape: str
    sharding: str
    is_donated: bool


@dataclass(frozen=True, slots=True)
class ModuleIdentity:
    """The name of a compile, and the facts in which compiles of this name can differ."""

    name: str
    path: str
    backend: Backend
    parameters: tuple[Parameter, ...]


def module_identity(dump: Compile) -> ModuleIdentity:
    """Return the identity of a compile."""
    parameters = tuple(_parameters(dump))
    return ModuleIdentity(dump.module_name, dump.files[0].label, dump.backend, parameters)


def _parameters(dump: Compile) -> Iterator[Parameter]:
    for file in dump.files:
        header, entry = file.module.header, file.module.entry
        if header is None or entry is None:
            continue
        donated = donated_parameters(header.text)
        for number, line in sorted(file.module.computation(entry).parameters.items()):
            sharding = line.parsed.attribute("sharding")
            yield Parameter(
                argument_name(line) or f"parameter {number}",
                line.shape.partition("{")[0],
                "" if sharding is None else sharding.text,
                number in donated,
            )
        return


def first_difference(first: ModuleIdentity, other: ModuleIdentity) -> str | None:
    """Return the first difference of two compiles, None if there is none.

    The backends differ first, then parameters: in their shapes, shardings, and donation.
    """
    if first.backend is not other.backend:
        return f"{first.backend.value} -> {other.backend.value}"
    if len(first.parameters) != len(other.parameters):
        return f"{len(first.parameters)} -> {count_noun(len(other.parameters), 'parameter')}"
    for fact in (_shape, _sharding, _donation):
        for before, after in zip(first.parameters, other.parameters, strict=True):
            if fact(before) != fact(after):
                return f"{after.name}: {fact(before)} -> {fact(after)}"
    return None


def _shape(parameter: Parameter) -> str:
    return parameter.shape


def _sharding(parameter: Parameter) -> str:
    is_set = parameter.sharding and not parameter.sharding.startswith(_EMPTY_MESH)
    return f"sharding {parameter.sharding if is_set else 'none'}"


def _donation(parameter: Parameter) -> str:
    return "donated" if parameter.is_donated else "not donated"


def distinct_titles(modules: Sequence[ModuleIdentity]) -> list[str]:
    """Return the name of each compile, and in which fact it differs from others of this name.

    This is the number in the names of its files, and the first parameter that differs: ``jit_step
    (module_0026, x: f32[48,64])``. The path is in their place if they are the same.
    """
    groups: dict[str, list[ModuleIdentity]] = {}
    for module in modules:
        groups.setdefault(module.name, []).append(module)
    titles = [_title(module, groups[module.name]) for module in modules]
    counts = Counter(titles)
    return [
        f"{module.name} ({module.path})" if counts[title] > 1 else title
        for module, title in zip(modules, titles, strict=True)
    ]


def joined_names(names: Iterable[str], limit: int) -> str:
    """Join names by commas, each once with its number, and at most some of them."""
    counts = Counter(names)
    shown = [name if count == 1 else f"{name} ({count:,})" for name, count in counts.items()]
    return join_limited(shown, limit)


def _title(module: ModuleIdentity, group: Sequence[ModuleIdentity]) -> str:
    if len(group) == 1:
        return module.name
    filename = PurePath(module.path).name
    number = DumpName.of(filename)
    parts = [filename if number is None else number.module]
    if difference := _difference(module, group):
        parts.append(difference)
    return f"{module.name} ({', '.join(parts)})"


def _difference(module: ModuleIdentity, group: Sequence[ModuleIdentity]) -> str | None:
    """Return the first fact about a compile that is not that of all others of a group."""
    if len({one.backend for one in group}) > 1:
        return module.backend.value
    if len({len(one.parameters) for one in group}) > 1:
        return count_noun(len(module.parameters), "parameter")
    for fact in (_shape, _sharding, _donation):
        for number, parameter in enumerate(module.parameters):
            if len({fact(one.parameters[number]) for one in group}) > 1:
                return f"{parameter.name}: {fact(parameter)}"
    return None
