"""Invariants of the sizes of arbitrary arrays."""

from hypothesis import assume, example, given
from hypothesis import strategies as st

from hlo_lsp.model.backend import Backend
from hlo_lsp.model.shape import parse_shape
from hlo_lsp.model.sizes import (
    PaddedSize,
    Target,
    logical_bytes,
    padded_size,
    padded_size_of_text,
)

_TPU = Target(Backend.TPU, 512)


def _size(text: str) -> PaddedSize:
    size = padded_size(parse_shape(text), _TPU)
    assert size is not None
    return size


_TILE = st.lists(st.sampled_from([1, 2, 4, 8, 128]), min_size=1, max_size=2)


@st.composite
def _arrays(draw: st.DrawFn, largest: int = 300) -> str:
    """Return a tiled array of a type of at least a byte."""
    dims = draw(st.lists(st.integers(0, largest), max_size=3))
    order = draw(st.permutations(range(len(dims))))
    tiles = draw(st.lists(_TILE, min_size=1, max_size=2))
    type_ = draw(st.sampled_from(["s8", "bf16", "f32", "c64", "s4"]))
    printed = "".join(f"({','.join(map(str, tile))})" for tile in tiles)
    return f"{type_}[{','.join(map(str, dims))}]{{{','.join(map(str, order))}:T{printed}}}"


@given(_arrays())
def test_padding_never_makes_an_array_smaller(text: str) -> None:
    logical = logical_bytes(parse_shape(text))
    assert logical is not None
    assert _size(text).bytes >= logical


@given(_arrays())
def test_padding_is_explained_exactly_if_present(text: str) -> None:
    size = _size(text)
    logical = logical_bytes(parse_shape(text))
    assume(logical)
    assert bool(size.padding) == (size.bytes != logical)
    assert all(padding.after > padding.before for padding in size.padding)


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=3), st.sampled_from(["", "(2,1)", "(4,1)"])
)
def test_whole_tiles_are_not_padded(counts: list[int], second: str) -> None:
    dims = [*counts[:-1], 128 * counts[-1]]
    if len(dims) > 1:
        dims[-2] *= 8
    tile = "(8,128)" if len(dims) > 1 else "(1024)"
    dims[-1] *= 1 if len(dims) > 1 else 8
    order = ",".join(str(dim) for dim in reversed(range(len(dims))))
    text = f"bf16[{','.join(map(str, dims))}]{{{order}:T{tile}{second if len(dims) > 1 else ''}}}"
    size = _size(text)
    assert size.bytes == logical_bytes(parse_shape(text))
    assert size.padding == ()


@given(_arrays(), st.integers(0, 2), st.integers(1, 50))
def test_a_larger_array_does_not_take_less(text: str, place: int, more: int) -> None:
    head, _, tail = text.partition("[")
    dims, _, layout = tail.partition("]")
    sizes = dims.split(",") if dims else []
    assume(place < len(sizes))
    sizes[place] = str(int(sizes[place]) + more)
    larger = f"{head}[{','.join(sizes)}]{layout}"
    assert _size(larger).bytes >= _size(text).bytes


_LETTERS = st.sampled_from(
    ["T()", "T(0)", "T(8,128)", "T(*,128)", "T(*)", "T(128)(*)", "L(0)", "L(7)", "E(0)", "E(4)",
     "S(0)", "S(2)", "S(99)", "SC(0:3)", "SC(9:1,2)", "SC(0:9,2)", "SC", "M(0)", "M(5)", "D(D)",
     "#(u8)", "Q(1)", "P(f32[])"]
)  # fmt: skip


@example("3", "0", ["T()"], Backend.TPU)
@example("3", "0", ["T(128)", "L(0)"], Backend.TPU)
@given(
    st.sampled_from(["", "3", "<=3,5", "0,7", "?,2", "4,5,6"]),
    st.sampled_from(["", "0", "1,0", "0,1", "2,1,0", "5"]),
    st.lists(_LETTERS, max_size=4),
    st.sampled_from(list(Backend)),
)
def test_invalid_layout_does_not_fail(
    dims: str, order: str, letters: list[str], backend: Backend
) -> None:
    layout = f"{{{order}{':' if letters else ''}{''.join(letters)}}}"
    size = padded_size_of_text(f"f32[{dims}]{layout}", Target(backend))
    assert size is None or size.bytes >= 0
