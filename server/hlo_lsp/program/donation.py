"""Donation of parameter buffers to outputs.

``input_output_alias`` in the module header lists outputs that use the buffer of a parameter
(hlo_input_output_alias_config.h). ``buffer_donor`` lists donated parameters whose buffer is unused
(hlo_buffer_donor_config.h). A buffer fits an output if element type, dimensions, layout, and memory
space are equal.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.notation import TuplePath, index_text
from hlo_lsp.model.module_index import ModuleIndex
from hlo_lsp.model.shape import (
    ArrayShape,
    brief_shape,
    element_texts,
    is_compatible,
    try_shape,
    without_memory_space,
)
from hlo_lsp.syntax.module_records import InstructionLine
from hlo_lsp.syntax.statements import closing_bracket, tuple_sharding_texts

_NUMBER = re.compile(r"\d{1,9}")
_ALIAS = re.compile(r"\{([\d,\s]*)\}:\s*\((\d{1,9}),\s*\{([\d,\s]*)\}")
_DONOR = re.compile(r"\((\d{1,9}),\s*\{([\d,\s]*)\}\)")
# Modules that XLA makes of parts of a program, for the host and for the SparseCore.
_PARTS_OF_PROGRAMS = frozenset({"called_computation", "extracted"})


@dataclass(frozen=True, slots=True)
class InterfaceLeaf:
    """An array of a parameter, or of the result if ``parameter`` is None, as printed."""

    parameter: int | None
    index: TuplePath
    shape: str

    @property
    def index_text(self) -> str:
        """The shape index as XLA prints it: ``{1,0}``."""
        return index_text(self.index)

    @property
    def is_token(self) -> bool:
        """True for a token, which has no bytes that could be donated."""
        return self.shape.startswith("token[")


@dataclass(frozen=True, slots=True)
class DonationCandidates:
    """Parameters and outputs of one shape that do not share buffers."""

    parameters: tuple[InterfaceLeaf, ...]
    outputs: tuple[InterfaceLeaf, ...]

    @property
    def count(self) -> int:
        """Number of buffers that could be shared."""
        return min(len(self.parameters), len(self.outputs))


@dataclass(frozen=True, slots=True)
class UnusedDonation:
    """A donated buffer that no output uses, and the first reason.

    ``is_resharded`` is True if an output has the same shape with a different partitioning.
    """

    parameter: InterfaceLeaf
    why: str
    is_resharded: bool = False


@dataclass(frozen=True, slots=True)
class Donation:
    """The arrays of the parameters: those that outputs use, could use, and do not use.

    Attributes:
        parameters: All arrays of the parameters.
        used: The index of the output that uses the buffer of a parameter.
        matches: Arrays that are not donated, with the outputs of their shapes.
        refused: Donated arrays that no output uses.
    """

    parameters: tuple[InterfaceLeaf, ...]
    used: Mapping[InterfaceLeaf, TuplePath]
    matches: tuple[DonationCandidates, ...]
    refused: tuple[UnusedDonation, ...]


@dataclass(frozen=True, slots=True)
class DonationStatus:
    """The donation of the buffer of a parameter, and the output that uses it.

    Attributes:
        is_donated: Whether the caller donates the buffer.
        output: The output that uses the buffer, None if there is none.
        fits: An output without a buffer that the parameter fits; None if it is used or none fits.
        obstacle: Why no output uses the buffer; None if an output does, or if one fits.
    """

    is_donated: bool
    output: TuplePath | None
    fits: TuplePath | None
    obstacle: str | None


@dataclass(frozen=True, slots=True)
class _Interface:
    """The parameters and the result of an entry computation, as instructions and leaves."""

    lines: dict[int, InstructionLine]
    root: InstructionLine
    parameters: list[InterfaceLeaf]
    outputs: list[InterfaceLeaf]


def is_part_of_program(module: ModuleIndex) -> bool:
    """Return whether XLA made the module of a part of a program: users cannot donate to it."""
    return module.header is not None and module.header.name in _PARTS_OF_PROGRAMS


def donation_status(
    module: ModuleIndex, parameter: int, index: TuplePath, original: ModuleIndex | None
) -> DonationStatus | None:
    """Return the donation of one array of a parameter, None if the module has no such array.

    A token has none, either. ``original`` is the module before optimizations.
    """
    header, interface, found = module.header, _interface(module), donation_of(module, original)
    if header is None or interface is None or found is None:
        return None
    arrays = {(leaf.parameter, leaf.index): leaf for leaf in interface.parameters}
    leaf = arrays.get((parameter, index))
    if leaf is None or leaf.is_token:
        return None
    aliases = _aliases(header.text)
    for output, *source in aliases:
        if source == [parameter, index]:
            return DonationStatus(True, output, None, None)
    for refused in found.refused:
        if refused.parameter == leaf:
            return DonationStatus(True, None, None, refused.why)
    for match in found.matches:
        if leaf in match.parameters:
            return DonationStatus(False, None, match.outputs[0].index, None)
    filled = {output for output, _, _ in aliases}
    obstacle = _donation_obstacle(leaf, interface.outputs, filled)
    return DonationStatus(False, None, None, obstacle)


def donation_of(module: ModuleIndex, original: ModuleIndex | None) -> Donation | None:
    """Return possible donations and donations without effect; None without an entry computation.

    The module has the shapes of one device, ``original`` those of the whole arrays.
    """
    header, interface = module.header, _interface(module)
    if header is None or interface is None:
        return None
    aliases = _aliases(header.text)
    donors = _donors(header.text)
    taken = {(number, index) for _, number, index in aliases}
    filled = {out for out, _, _ in aliases}
    outputs = interface.outputs
    checkpoint()
    free = [
        leaf
        for leaf in interface.parameters
        if (leaf.parameter, leaf.index) not in taken and not leaf.is_token
    ]
    open_outputs = [leaf for leaf in outputs if leaf.index not in filled]
    offered = [leaf for leaf in free if (leaf.parameter, leaf.index) in donors]
    rest = [leaf for leaf in free if (leaf.parameter, leaf.index) not in donors]
    before = None if original is None else _interface(original)
    resharded = {} if before is None else _resharded(offered, interface, open_outputs, before)
    sources = {(number, index): out for out, number, index in aliases}
    return Donation(
        tuple(interface.parameters),
        {
            leaf: sources[leaf.parameter, leaf.index]
            for leaf in interface.parameters
            if leaf.parameter is not None and (leaf.parameter, leaf.index) in sources
        },
        tuple(_matches(rest, open_outputs)),
        tuple(
            UnusedDonation(
                leaf,
                resharded.get(leaf) or _donation_obstacle(leaf, outputs, filled),
                leaf in resharded,
            )
            for leaf in offered
        ),
    )


def _interface(module: ModuleIndex) -> _Interface | None:
    if module.entry is None:
        return None
    computation = module.computation(module.entry)
    root = computation.root
    if root is None or not root.shape:
        return None
    parameters = dict(sorted(computation.parameters.items()))
    leaves: list[InterfaceLeaf] = []
    for number, line in parameters.items():
        checkpoint()
        leaves += _leaves(number, line.shape, ())
    return _Interface(parameters, root, leaves, list(_outputs(root.shape)))


@lru_cache(maxsize=4)  # a result may have thousands of elements
def _outputs(shape: str) -> tuple[InterfaceLeaf, ...]:
    return tuple(_leaves(None, shape, ()))


def _resharded(
    offered: list[InterfaceLeaf],
    after: _Interface,
    open_outputs: list[InterfaceLeaf],
    before: _Interface,
) -> dict[InterfaceLeaf, str]:
    """Return parameters that have an output's shape in the program but not on each device.

    Each comes with the text about its output. An output matches at most one parameter.
    """
    wholes = {(whole.parameter, whole.index): whole for whole in before.parameters}
    if wholes.keys() != {(one.parameter, one.index) for one in after.parameters}:
        return {}  # The module before optimizations belongs to another compile.
    results = {whole.index: whole for whole in before.outputs}
    pairs = [(out, results[out.index]) for out in open_outputs if out.index in results]
    found: dict[InterfaceLeaf, str] = {}
    for leaf in offered:
        if any(is_compatible(leaf.shape, output.shape) for output in after.outputs):
            continue
        whole = wholes[leaf.parameter, leaf.index]
        pair = next((pair for pair in pairs if is_compatible(whole.shape, pair[1].shape)), None)
        if pair is not None:
            pairs.remove(pair)
            output, result = pair
            found[leaf] = (
                f"it and output {output.index_text} are both {brief_shape(whole.shape)} before "
                f"partitioning, but one device holds `{output.shape}` of the output (sharding of "
                f"the parameter: {_sharding_words(before, whole)}, of the output: "
                f"{_sharding_words(before, result)})"
            )
    return found


def _sharding_words(interface: _Interface, leaf: InterfaceLeaf) -> str:
    """Return the sharding that the program specifies for a leaf."""
    number = leaf.parameter
    line = interface.root if number is None else interface.lines[number]
    printed = line.parsed.attribute("sharding")
    if printed is None:
        return "none, chosen by XLA"
    text = printed.text.strip()
    texts = tuple_sharding_texts(text) or []
    leaves = list(_leaves(number, line.shape, ()))
    return f"`{texts[leaves.index(leaf)] if len(texts) == len(leaves) else text}`"


def _matches(
    parameters: list[InterfaceLeaf], outputs: list[InterfaceLeaf]
) -> Iterator[DonationCandidates]:
    by_shape: defaultdict[str, list[InterfaceLeaf]] = defaultdict(list)
    for leaf in outputs:
        by_shape[leaf.shape].append(leaf)
    fitting: defaultdict[str, list[InterfaceLeaf]] = defaultdict(list)
    for leaf in parameters:
        if leaf.shape in by_shape:
            fitting[leaf.shape].append(leaf)
    for shape, found in fitting.items():
        yield DonationCandidates(tuple(found), tuple(by_shape[shape]))


def _donation_obstacle(
    leaf: InterfaceLeaf, outputs: list[InterfaceLeaf], filled: set[TuplePath]
) -> str:
    """Return the first mismatch: type and dimensions, memory space, layout, or other buffers."""
    alike = [output for output in outputs if is_compatible(leaf.shape, output.shape)]
    if not alike:
        return "no output has its type and dimensions"
    equal = [output for output in alike if output.shape == leaf.shape]
    if equal and all(output.index in filled for output in equal):
        return f"every output of this shape uses another buffer, for example {equal[0].index_text}"
    if equal:
        return f"output {equal[0].index_text} has its shape and layout, but is made elsewhere"
    other = alike[0]
    is_moved = without_memory_space(leaf.shape) == without_memory_space(other.shape)
    what = "memory space" if is_moved else "layout"
    return f"output {other.index_text} has another {what}: `{other.shape}`"


def _leaves(parameter: int | None, shape: str, index: TuplePath) -> Iterator[InterfaceLeaf]:
    elements = element_texts(shape)
    if elements is None:
        if isinstance(try_shape(shape), ArrayShape):
            yield InterfaceLeaf(parameter, index, shape)
        return
    for number, element in enumerate(elements):
        yield from _leaves(parameter, element, (*index, number))


def argument_name(parameter: InstructionLine) -> str:
    """Return the name of the argument of an entry parameter, such as ``p['w']``, or nothing."""
    return unescape_argument(parameter.metadata.get("op_name", ""))


def unescape_argument(op_name: str) -> str:
    """Return the name of an argument, given the operation name of its parameter."""
    return op_name.replace("\\'", "'")


def donated_parameters(header: str) -> set[int]:
    """Return the numbers of the parameters of which the caller donates a buffer."""
    return {number for number, _ in donated_buffers(header)}


def donated_buffers(header: str) -> set[tuple[int, TuplePath]]:
    """Return the parameters and indexes in them of the buffers that the caller donates."""
    return {(number, index) for _, number, index in _aliases(header)} | _donors(header)


@lru_cache(maxsize=4)
def _donors(header: str) -> set[tuple[int, TuplePath]]:
    """Return donated buffers that no output uses: number of the parameter, index in it."""
    found = _DONOR.findall(_attribute(header, "buffer_donor"))
    return {(int(number), _index(index)) for number, index in found}


@lru_cache(maxsize=4)  # a header may have thousands of them
def _aliases(header: str) -> list[tuple[TuplePath, int, TuplePath]]:
    """Return the aliases of a module: output, number of the parameter, index in the parameter."""
    return [
        (_index(out), int(number), _index(index))
        for out, number, index in _ALIAS.findall(_attribute(header, "input_output_alias"))
    ]


def _attribute(header: str, name: str) -> str:
    start = header.find(f"{name}={{")
    end = None if start < 0 else closing_bracket(header, start + len(name) + 1)
    return "" if end is None else header[start:end]


def _index(text: str) -> TuplePath:
    return tuple(map(int, _NUMBER.findall(text)))
