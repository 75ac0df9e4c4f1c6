"""Sizes of shapes with all known layouts."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from hlo_lsp.model.backend import Backend
from hlo_lsp.model.compile import Compile
from hlo_lsp.model.dump_file import DumpFile
from hlo_lsp.model.padded_sizes import (
    PaddedSize,
    Target,
    logical_bytes,
    padded_size,
    padded_size_of_text,
    target_of,
    tuple_granule,
)
from hlo_lsp.model.shape import parse_shape

_TPU = Target(Backend.TPU, 512)
_CPU = Target(Backend.CPU)
_GPU = Target(Backend.GPU)
_UNKNOWN = Target(Backend.UNKNOWN)


def _size(text: str, target: Target, color: int = 0) -> PaddedSize:
    size = padded_size(parse_shape(text), target, color)
    assert size is not None
    return size


@pytest.mark.parametrize(
    ("text", "bytes_", "causes"),
    [
        ("f32[33]{0:T(128)}", 512, ["dim 0: 33 -> 128 by T(128)"]),
        ("f32[128]{0:T(128)}", 512, []),
        ("u32[]{:T(128)}", 512, ["added dim: 1 -> 128 by T(128)"]),
        ("bf16[8,2048,128]{2,1,0:T(8,128)(2,1)}", 4194304, []),
        ("u16[33]{0:T(256)(128)(2,1)}", 512, ["dim 0: 33 -> 256 by T(256)"]),
        ("pred[8,2048,2048]{1,2,0:T(32,128)(4,1)}", 33554432, []),
        (
            "s4[100,200]{0,1:T(8,128)(8,1)E(4)}",
            12800,
            ["dim 0: 100 -> 128 by T(8,128)"],
        ),
        ("s32[128]{0:T(1)L(128)S(4)}", 512, []),
        ("s32[3]{0:T(1)L(128)S(4)}", 512, ["elements: 3 -> 128 by L(128)"]),
        (
            "f32[<=37,130]{1,0:T(8,128)M(1024)}",
            41984,
            [
                "dim 0: 37 -> 40 by T(8,128)",
                "dim 1: 130 -> 256 by T(8,128)",
                "bytes: 40,960 -> 41,984 by M(1024), run-time sizes",
            ],
        ),
        # The layout of a parameter omits the prefix of run-time sizes.
        (
            "f32[<=37]{0:T(128)}",
            1536,
            ["dim 0: 37 -> 128 by T(128)", "bytes: 512 -> 1,536 by run-time sizes"],
        ),
        ("f32[<=64,128]{1,0:T(8,128)}", 33792, ["bytes: 32,768 -> 33,792 by run-time sizes"]),
        (
            "s4[100,200]{0,1:T(8,128)(4,1)}",
            25600,
            ["dim 0: 100 -> 128 by T(8,128)"],
        ),
        (
            "f32[300,17]{0,1:T(8,128)}",
            36864,
            ["dim 1: 17 -> 24 by T(8,128)", "dim 0: 300 -> 384 by T(8,128)"],
        ),
        (
            "f32[64]{0:T(1,128)}",
            512,
            ["dim 0: 64 -> 128 by T(1,128)"],
        ),
        (
            "f32[64]{0:T(1,2,128)}",
            1024,
            ["added dim: 1 -> 2 by T(1,2,128)", "dim 0: 64 -> 128 by T(1,2,128)"],
        ),
        ("f32[0,130]{1,0:T(8,128)}", 0, ["dim 1: 130 -> 256 by T(8,128)"]),
        ("bf16[3,128]{1,0:T(2,128)(2,1)}", 1024, ["dim 0: 3 -> 4 by T(2,128)"]),
    ],
)
def test_tiled_array(text: str, bytes_: int, causes: list[str]) -> None:
    for target in (_TPU, _UNKNOWN):
        size = _size(text, target)
        assert (size.bytes, size.exact) == (bytes_, True)
        assert sorted(map(str, size.padding)) == sorted(causes)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("bf16[1,128]{1,0:T(1,128)(2,1)}", "elements: 128 -> 256 by (2,1)"),
        ("s2[3]{0:T(1024)(128)(16,1)E(2)}", "elements: 1,024 -> 2,048 by (128)(16,1)"),
    ],
)
def test_padding_by_a_later_tile_is_not_exact(text: str, cause: str) -> None:
    size = _size(text, _TPU)
    assert not size.exact
    assert str(size.padding[-1]) == cause


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        ("u32[]{:T(128)S(2)}", 4),
        ("u32[5]{0:T(128)S(2)}", 20),
        ("bf16[100,200]{0,1:T(8,128)(2,1)S(1)SC(0:104)}", 26624),
        ("s4[37,130]{0,1:T(8,128)(8,1)E(4)SC(0:24)}", None),
        ("u32[]", 4096),
        ("s32[]", 4096),
        ("pred[]", 1024),
        ("s32[2]{0:S(4)}", 4096),
        ("u32[]{:S(6)}", 4096),
        ("f32[1025]{0}", 8192),
        ("f32[0]{0}", 0),
        ("f32[<=37]{0}", 5120),
        ("f32[100,130]{0,1}", 69632),
        ("f32[2,3,5,7]{3,0,2,1}", 61440),
        ("s8[1,5]{1,0}", 1024),
        ("s4[100,130]{0,1:E(4)}", 8704),
        ("f32[0,5]{1,0}", 0),
        ("pred[<=37]{0}", 2048),
        ("u32[3]{0:S(2)}", 12),
        ("u32[3]{0:S(8)}", 12),
        ("u32[3]{0:S(10)}", 12),
        ("token[]", 0),
    ],
)
def test_other_arrays_on_tpu(text: str, bytes_: int | None) -> None:
    size = _size(text, _TPU)
    assert size.exact
    if bytes_ is not None:
        assert size.bytes == bytes_


@pytest.mark.parametrize("target", [_CPU, _GPU], ids=["CPU", "GPU"])
@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        ("f32[33]{0}", 132),
        ("u32[]", 4),
        ("u8[0]{0}", 0),
        ("s4[100,200]{1,0:E(4)}", 10000),
        ("s4[101]{0:E(4)}", 51),
        ("s4[101]{0}", 101),
        ("f32[<=37,130]{1,0}", 19248),
        ("s8[<=37,130]{1,0}", 4818),
        ("f32[2]{0:S(5)}", 8),
        ("token[]", 0),
        ("()", 0),
        ("(f32[2]{0}, (s8[], s8[]))", 16),
    ],
)
def test_cpu_and_gpu_do_not_pad(text: str, bytes_: int, target: Target) -> None:
    size = _size(text, target)
    assert (size.bytes, size.exact, size.padding) == (bytes_, True, ())


@pytest.mark.parametrize(
    ("arity", "granule", "bytes_"),
    [(0, 32, 0), (1, 32, 32), (8, 32, 32), (9, 32, 64), (3, 512, 512), (129, 512, 1024),
     (3, 1024, 1024), (508, 1024, 2048)],
)  # fmt: skip
def test_tpu_tuple_is_a_rounded_table(arity: int, granule: int, bytes_: int) -> None:
    text = f"({', '.join(['f32[]'] * arity)})"
    size = _size(text, Target(Backend.TPU, granule))
    assert (size.bytes, size.exact) == (bytes_, True)


def test_tuple_on_unknown_chip_has_several_allowed_sizes() -> None:
    size = _size("(f32[], f32[], f32[])", Target(Backend.TPU))
    assert not size.exact
    assert size.bytes in size.allowed
    assert size.allowed == {32, 512, 1024}
    size = _size("(f32[], f32[], f32[])", _UNKNOWN)
    assert not size.exact
    assert {size.bytes, *size.allowed} == {24, 32, 512, 1024}


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        ("f32[8,9]{1,0:T(*,128)}", 512),  # 72 elements
        ("f32[2,8,9]{2,1,0:T(*,64)}", 1024),  # twice 72 elements
        ("f32[3,2,8,9]{3,2,1,0:T(*,*,64)}", 2304),  # three times 144
        ("f32[3,8,9]{2,1,0:T(*,4,5)}", 960),  # 24 rows of 10
        ("f32[4,3,8,9]{3,2,1,0:T(2,*,64)}", 8192),  # 4 times 4 rows of 128
        ("f32[4,4,3,8,9]{4,3,2,1,0:T(2,2,*,64)}", 32768),
        ("f32[3,9]{1,0:T(8,*)}", 192),  # no minor dimension to combine with
        ("f32[9]{0:T(*,128)}", 512),
        ("f32[9]{0:T(*,*,128)}", 512),
        ("f32[8,9]{1,0:T(*,*,128)}", 512),
    ],
)
def test_dimensions_that_a_tile_fuses(text: str, bytes_: int) -> None:
    size = _size(text, _TPU)
    assert (size.bytes, size.exact, size.padding) == (bytes_, False, ())


def test_sparsecore_keeps_no_tuple_tables() -> None:
    assert _size("(f32[], f32[])", _TPU, color=7).bytes == 0


@pytest.mark.parametrize(
    "text",
    [
        "f32[8]{0:T(128)Q(7)}",
        "f32[8]{0:P(s8[16])}",
        "opaque[]",
        "f32[8,9]{1,0:T(*,128)}",
        "f32[8,9]{0:T(8,128)}",
        "f32[8,9]{1,2:T(8,128)}",
        "f32[8,9]{1,1:T(8,128)}",
    ],
)
def test_size_without_a_rule_is_not_exact(text: str) -> None:
    assert not _size(text, _TPU).exact


@pytest.mark.parametrize("text", ["f32[?]{0:T(128)}", "new[3]{0:T(128)}", "b(f32[3])"])
def test_unknown_type_has_no_size(text: str) -> None:
    assert padded_size(parse_shape(text), _TPU) is None
    assert logical_bytes(parse_shape(text)) is None


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        ("f32[33]{0:T(128)}", 132), ("(f32[33], ((), s8[]))", 16), ("()", 0), ("token[]", 0),
        ("opaque[]", 8), ("pred[3]", 3), ("c128[2]", 32), ("s4[3]", 3), ("s4[3]{0:E(4)}", 2),
        ("f32[<=37,130]{1,0:T(8,128)M(1024)}", 19240), ("f32[0]", 0), ("u32[]{:T(128)S(2)}", 4),
    ],
)  # fmt: skip
def test_bytes_without_padding(text: str, bytes_: int) -> None:
    assert logical_bytes(parse_shape(text)) == bytes_


@pytest.mark.parametrize(
    ("sizes", "granule"),
    [
        ({}, None),
        ({(0, 0): 9}, None),
        ({(3, 512): 2}, 512),
        ({(3, 1024): 2}, 1024),
        ({(3, 32): 1, (9, 64): 1}, 32),
        ({(3, 512): 5, (3, 24): 1}, 512),
        ({(3, 24): 5}, None),
    ],
)
def test_tuples_determine_the_granule(
    sizes: dict[tuple[int, int], int], granule: int | None
) -> None:
    assert tuple_granule(sizes) == granule


TPU = "module_0000.f.cl_7.after_optimizations-buffer-assignment.txt"
CPU = "module_0000.f.cpu_after_optimizations-buffer-assignment.txt"
GPU = "module_0000.f.sm_9.0a_gpu_after_optimizations-buffer-assignment.txt"
TUPLE = " value: <{id} t.{id}{{}} @0> (size={size},offset=0): (f32[2]{{0}}, f32[2]{{0}})\n"


def _file(path: str, *sizes: int) -> DumpFile:
    values = "".join(TUPLE.format(id=number, size=size) for number, size in enumerate(sizes))
    return DumpFile.of_text("BufferAssignment:\nallocation 0: size 9999:\n" + values, path)


@pytest.mark.parametrize(
    ("path", "target"),
    [
        (TPU, Target(Backend.TPU, 512)),
        (CPU, Target(Backend.CPU)),
        (GPU, Target(Backend.GPU)),
        ("renamed.txt", Target(Backend.UNKNOWN)),
    ],
)
def test_only_tpu_has_a_granule(path: str, target: Target) -> None:
    assert target_of(Compile([_file(path, 512, 512)])) == target


def test_without_tuples_the_granule_is_not_known() -> None:
    assert target_of(Compile([_file(TPU)])) == Target(Backend.TPU)
    assert target_of(Compile([])) == Target(Backend.UNKNOWN)


def test_edit_of_the_majority_changes_the_target() -> None:
    file = _file(TPU, 512, 32)
    dump = Compile([file])
    before = target_of(dump)
    for size, line in ((32, 2), (32, 3)):
        text = TUPLE.format(id=line - 2, size=size).rstrip("\n")
        file.changed(file.document.edit((line, 0), (line, 999), text))
        file.refresh()
    assert before.granule in {32, 512}
    assert target_of(dump) == Target(Backend.TPU, 32)
    text = "\n".join(TUPLE.format(id=number, size=512).rstrip("\n") for number in range(5, 9))
    file.changed(file.document.edit((4, 0), (4, 0), text))
    file.refresh()
    assert target_of(dump) == Target(Backend.TPU, 512)


def test_companion_name_determines_the_backend() -> None:
    dump = Compile([_file("renamed.txt", 16), DumpFile.of_text("HloModule m\n", CPU)])
    assert target_of(dump) == Target(Backend.CPU)


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
def test_padding_is_explained_exactly_if_present(text: str) -> None:
    size = _size(text, _TPU)
    logical = logical_bytes(parse_shape(text))
    assume(logical)
    assert bool(size.padding) == (size.bytes != logical)
    assert all(padding.after > padding.before for padding in size.padding)


@given(_arrays(), st.integers(0, 2), st.integers(1, 50))
def test_larger_array_does_not_take_less(text: str, place: int, more: int) -> None:
    head, _, tail = text.partition("[")
    dims, _, layout = tail.partition("]")
    sizes = dims.split(",") if dims else []
    assume(place < len(sizes))
    sizes[place] = str(int(sizes[place]) + more)
    larger = f"{head}[{','.join(sizes)}]{layout}"
    assert _size(larger, _TPU).bytes >= _size(text, _TPU).bytes


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
