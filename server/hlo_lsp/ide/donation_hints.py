"""Labels about the donation of the parameters of a program."""

from collections.abc import Mapping

from hlo_lsp.ide.code_lenses import large_size
from hlo_lsp.memory.donated_arguments import Argument, DonationState, donated_arguments
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.query_cache import query
from hlo_lsp.text.amounts import format_short_bytes
from hlo_lsp.text.inert import printable

_MAX_LISTED = 8  # arrays of a tuple
_LABELS = {
    DonationState.DONATED: "donated",
    DonationState.USABLE: DonationState.USABLE.title,
    DonationState.UNUSED: DonationState.UNUSED.title,
}


@query
def donation_labels(dump: Compile) -> Mapping[int, tuple[str, str]]:
    """Return labels with tooltips by the number of the parameter.

    Small parameters have none, nor do those that are not donated and that no output can use. A
    tuple has one if its large arrays are in the same state.
    """
    by_parameter: dict[int, list[Argument]] = {}
    for one in donated_arguments(dump) or ():
        if one.bytes >= large_size(dump, one.space):
            by_parameter.setdefault(one.parameter, []).append(one)
    return {
        number: (
            _LABELS[found[0].state],
            "\n".join(printable(_tooltip(one)) for one in found[:_MAX_LISTED]),
        )
        for number, found in by_parameter.items()
        if found[0].state in _LABELS and len({one.state for one in found}) == 1
    }


def _tooltip(one: Argument) -> str:
    idle = f"; idle {one.idle_text}" if one.idle_steps is not None else ""
    return f"{one.name}, {format_short_bytes(one.bytes)}: {one.text}{idle}"
