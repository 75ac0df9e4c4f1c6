"""The names of the arguments of a program, such as ``p['w']``.

Parameters have them as operation names. JAX passes more than 2,000 arguments of a TPU program as
one tuple (``should_tuple_args``), whose elements have no names. In the text before optimizations,
they are parameters with names.
"""

from collections.abc import Mapping, Sequence

from hlo_lsp.background_jobs import checkpoint
from hlo_lsp.hlo.notation import TuplePath, index_text
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.query_cache import query
from hlo_lsp.model.shape import ArrayShape, element_texts, try_shape
from hlo_lsp.program.donation import argument_name
from hlo_lsp.program.stages import module_at_buffer_assignment, unoptimized_module

_Kind = tuple[str, int]  # of an argument: the element type and the rank


@query
def tupled_argument_names(dump: Compile) -> Mapping[TuplePath, str]:
    """Return the names of the elements of the only parameter by their paths in it.

    There are none if the parameter has a name, is not a tuple, or does not fit the parameters
    before optimizations, or if their text is missing.
    """
    compiled = module_at_buffer_assignment(dump)
    parameters = {} if compiled is None else compiled.module.parameters
    parameter = parameters.get(0)
    if parameter is None or len(parameters) > 1 or argument_name(parameter):
        return {}
    elements = element_texts(parameter.shape)
    arguments = unoptimized_arguments(dump)
    if elements is None or list(map(_kind, elements)) != [kind for kind, _ in arguments]:
        return {}
    return {(number,): name for number, (_, name) in enumerate(arguments) if name}


def buffer_name(dump: Compile, parameter: int, index: TuplePath) -> str:
    """Return the name of a buffer of an argument: ``p['w']``, or ``parameter 3 at {1}``."""
    tupled = tupled_argument_names(dump)
    if index in tupled:
        return tupled[index]
    name = _named_parameters(dump).get(parameter) or f"parameter {parameter}"
    return f"{name} at {index_text(index)}" if index else name


@query  # apart from the compiled module, whose edits do not change it
def unoptimized_arguments(dump: Compile) -> Sequence[tuple[_Kind | None, str]]:
    """Return the kinds and names of the parameters before optimizations."""
    original = unoptimized_module(dump)
    return [] if original is None else _arguments(original)


@query
def _arguments(file: DumpFile) -> Sequence[tuple[_Kind | None, str]]:
    arguments = []
    for _, line in sorted(file.module.parameters.items()):
        checkpoint()
        arguments.append((_kind(line.shape), argument_name(line)))
    return arguments


@query
def _named_parameters(dump: Compile) -> Mapping[int, str]:
    compiled = module_at_buffer_assignment(dump)
    parameters = {} if compiled is None else compiled.module.parameters
    return {number: argument_name(line) for number, line in parameters.items()}


def _kind(shape: str) -> _Kind | None:
    """Return the element type and the rank, which partitioning does not change."""
    array = try_shape(shape)
    return (array.element_type, len(array.dims)) if isinstance(array, ArrayShape) else None
