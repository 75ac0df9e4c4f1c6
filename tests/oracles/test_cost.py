"""Tests for the cost of modules and instructions, compared with XLA's own cost analysis."""

import math
import random
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from dumps import module_files
from hlo_lsp.cost.operation import Cost, OperandIndex
from hlo_lsp.cost.program_cost import xla_costs
from hlo_lsp.model.dump_file import DumpFile
from oracles.libtpu_syntax import remove_libtpu_syntax
from oracles.xla_parser import ends_the_process, is_readable, xla_hlo

_TOLERANCE = 1e-5  # XLA adds floats of 32 bits.
_SHAPES_PER_OPCODE = 3
_SEED = 33


@lru_cache
def _client() -> Any:
    return pytest.importorskip("jaxlib.xla_client").make_cpu_client()


def _xla_cost(text: str) -> dict[str, float]:
    module = xla_hlo().hlo_module_from_text(text)
    analysis = pytest.importorskip("jaxlib._jax").hlo_module_cost_analysis
    found: dict[str, float] = analysis(_client(), module)
    return found


def _own_cost(text: str) -> Cost:
    return xla_costs(OperandIndex(DumpFile.of_text(text).module)).total


def _assert_equal(text: str, where: object) -> None:
    ours, theirs = _own_cost(text), _xla_cost(text)
    for key, value in (
        ("flops", ours.flops),
        ("transcendentals", ours.transcendentals),
        ("bytes accessed", ours.bytes_accessed),
    ):
        expected = theirs.get(key, 0.0)
        assert math.isclose(value, expected, rel_tol=_TOLERANCE), (where, key, value, expected)


@pytest.mark.corpus
def test_cost_of_modules_matches_xla(folder: Path) -> None:
    for path in module_files(folder):
        text = path.read_bytes().decode()
        if is_readable(text) and not ends_the_process(text):
            _assert_equal(remove_libtpu_syntax(text).text, path)


@pytest.mark.corpus
def test_cost_of_both_element_forms_is_equal(corpus_compact_gte: Path) -> None:
    pairs = 0
    for path in module_files(corpus_compact_gte / "full"):
        text = path.read_bytes().decode()
        compact = corpus_compact_gte / "compact" / path.relative_to(corpus_compact_gte / "full")
        if is_readable(text):
            _assert_equal(remove_libtpu_syntax(text).text, path)
        if compact.is_file() and "after_optimizations" in path.name:
            pairs += 1
            assert _own_cost(compact.read_bytes().decode()) == _own_cost(text)
    assert pairs


Shape = list[int]


def _array(sizes: Shape, kind: str = "f32") -> str:
    return f"{kind}[{','.join(map(str, sizes))}]"


class _Module:
    """A module with one instruction, whose operands are parameters."""

    def __init__(self, generator: random.Random) -> None:
        self.generator = generator
        self.computations: list[str] = []
        self.parameters: list[str] = []

    def sizes(self, rank: int, most: int = 9) -> Shape:
        return [self.generator.randint(1, most) for _ in range(rank)]

    def operand(self, shape: str) -> str:
        number = len(self.parameters)
        self.parameters.append(f"  %p{number} = {shape} parameter({number})")
        return f"%p{number}"

    def reducer(self, opcode: str = "add", kind: str = "f32", result: str = "f32") -> str:
        name = f"computation.{len(self.computations)}"
        attribute = ", direction=GT" if opcode == "compare" else ""
        self.computations.append(
            f"%{name} {{\n  %a = {kind}[] parameter(0)\n  %b = {kind}[] parameter(1)\n"
            f"  ROOT %c = {result}[] {opcode}(%a, %b){attribute}\n}}\n"
        )
        return f"%{name}"

    def text(self, instruction: str) -> str:
        lines = "\n".join(self.parameters)
        called = "\n".join(self.computations)
        return f"HloModule m\n\n{called}\nENTRY %e {{\n{lines}\n  ROOT %r = {instruction}\n}}\n"


_UNARY = (
    *("abs", "acos", "acosh", "asin", "asinh", "atanh", "cbrt", "ceil", "copy", "cosh", "cosine"),
    *("erf", "exponential", "exponential-minus-one", "floor", "log", "log-plus-one", "logistic"),
    *("negate", "round-nearest-afz", "round-nearest-even", "rsqrt", "sign", "sine", "sinh"),
    *("sqrt", "tan", "tanh", "bitcast", "opt-barrier"),
)
_BINARY = ("add", "atan2", "divide", "maximum", "minimum", "multiply", "power", "remainder")
_INTEGER = ("and", "or", "shift-left", "shift-right-logical", "xor")


def _elementwise(opcode: str, count: int, kind: str = "f32") -> Callable[[_Module], str]:
    def make(module: _Module) -> str:
        shape = _array(module.sizes(3), kind)
        operands = ", ".join(module.operand(shape) for _ in range(count))
        return f"{shape} {opcode}({operands})"

    return make


def _compare(module: _Module) -> str:
    sizes = module.sizes(2)
    operands = ", ".join(module.operand(_array(sizes)) for _ in range(2))
    return f"{_array(sizes, 'pred')} compare({operands}), direction=LT"


def _select(module: _Module) -> str:
    sizes = module.sizes(2)
    predicate = module.operand(_array(sizes, "pred"))
    operands = ", ".join(module.operand(_array(sizes)) for _ in range(2))
    return f"{_array(sizes)} select({predicate}, {operands})"


def _clamp(module: _Module) -> str:
    shape = _array(module.sizes(2))
    return f"{shape} clamp({', '.join(module.operand(shape) for _ in range(3))})"


def _convert(module: _Module) -> str:
    sizes = module.sizes(2)
    return f"{_array(sizes, 'bf16')} convert({module.operand(_array(sizes))})"


def _reduce_precision(module: _Module) -> str:
    shape = _array(module.sizes(2))
    operand = module.operand(shape)
    return f"{shape} reduce-precision({operand}), exponent_bits=5, mantissa_bits=7"


def _iota(module: _Module) -> str:
    return f"{_array(module.sizes(2), 's32')} iota(), iota_dimension=0"


def _broadcast(module: _Module) -> str:
    sizes = module.sizes(3)
    return f"{_array(sizes)} broadcast({module.operand(_array(sizes[1:2]))}), dimensions={{1}}"


def _reshape(module: _Module) -> str:
    a, b = module.sizes(2)
    return f"{_array([a * b])} reshape({module.operand(_array([a, b]))})"


def _transpose(module: _Module) -> str:
    sizes = module.sizes(3)
    order = module.generator.sample(range(3), 3)
    layout = "{2,1,0}" if module.generator.random() < 0.5 else "{0,1,2}"
    result = _array([sizes[dim] for dim in order])
    operand = module.operand(_array(sizes) + layout)
    return f"{result}{{2,1,0}} transpose({operand}), dimensions={{{','.join(map(str, order))}}}"


def _reverse(module: _Module) -> str:
    shape = _array(module.sizes(2))
    return f"{shape} reverse({module.operand(shape)}), dimensions={{0}}"


def _concatenate(module: _Module) -> str:
    a, b, c = module.sizes(3)
    operands = f"{module.operand(_array([a, c]))}, {module.operand(_array([b, c]))}"
    return f"{_array([a + b, c])} concatenate({operands}), dimensions={{0}}"


def _pad(module: _Module) -> str:
    a, low, high = module.sizes(3)
    operands = f"{module.operand(_array([a]))}, {module.operand('f32[]')}"
    return f"{_array([a + low + high])} pad({operands}), padding={low}_{high}"


def _slice(module: _Module) -> str:
    a, b = module.sizes(2)
    return f"{_array([a])} slice({module.operand(_array([a + b]))}), slice={{[{b}:{a + b}]}}"


def _dynamic_slice(module: _Module) -> str:
    a, b, c = module.sizes(3)
    indices = ", ".join(module.operand("s32[]") for _ in range(2))
    operand = module.operand(_array([a + b, c]))
    return f"{_array([a, c])} dynamic-slice({operand}, {indices}), dynamic_slice_sizes={{{a},{c}}}"


def _dynamic_update_slice(module: _Module) -> str:
    a, b, c = module.sizes(3)
    shape = _array([a + b, c])
    operands = f"{module.operand(shape)}, {module.operand(_array([a, c]))}"
    indices = ", ".join(module.operand("s32[]") for _ in range(2))
    return f"{shape} dynamic-update-slice({operands}, {indices})"


def _gather(module: _Module) -> str:
    rows, width, count = module.sizes(3)
    operands = (
        f"{module.operand(_array([rows, width]))}, {module.operand(_array([count, 1], 's32'))}"
    )
    return (
        f"{_array([count, width])} gather({operands}), offset_dims={{1}},"
        f" collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1,"
        f" slice_sizes={{1,{width}}}"
    )


def _scatter(module: _Module) -> str:
    rows, width, count = module.sizes(3)
    shape = _array([rows, width])
    operands = (
        f"{module.operand(shape)}, {module.operand(_array([count, 1], 's32'))},"
        f" {module.operand(_array([count, width]))}"
    )
    return (
        f"{shape} scatter({operands}), update_window_dims={{1}}, inserted_window_dims={{0}},"
        " scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply="
        + module.reducer(module.generator.choice(("add", "power")))
    )


def _dot(module: _Module) -> str:
    batch, m, k, n = module.sizes(4, 20)
    operands = f"{module.operand(_array([batch, m, k]))}, {module.operand(_array([batch, k, n]))}"
    return (
        f"{_array([batch, m, n])} dot({operands}), lhs_batch_dims={{0}}, rhs_batch_dims={{0}},"
        " lhs_contracting_dims={2}, rhs_contracting_dims={1}"
    )


def _ragged_dot(module: _Module) -> str:
    groups, m, k, n = module.sizes(4, 20)
    operands = (
        f"{module.operand(_array([m, k]))}, {module.operand(_array([groups, k, n]))},"
        f" {module.operand(_array([groups], 's32'))}"
    )
    return (
        f"{_array([m, n])} ragged-dot({operands}), lhs_contracting_dims={{1}},"
        " rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}"
    )


def _convolution(module: _Module) -> str:
    choose = module.generator.randint
    batch, features, results = module.sizes(3)
    groups = choose(1, 3)
    inputs, kernels, outputs, window = [], [], [], []
    for _ in range(2):
        size, kernel, stride, base, dilation = choose(3, 9), choose(1, 3), *module.sizes(3, 3)
        low, high = choose(-1, 4), choose(0, 4)
        span = (size - 1) * base + 1 + low + high - (kernel - 1) * dilation - 1
        high += max(0, -span)
        span = max(0, span)
        inputs.append(size)
        kernels.append(kernel)
        outputs.append(span // stride + 1)
        window.append((kernel, stride, f"{low}_{high}", base, dilation))
    sizes, strides, pads, lhs, rhs = (
        "x".join(map(str, each)) for each in zip(*window, strict=True)
    )
    result = _array([batch, *outputs, results * groups])
    operands = (
        f"{module.operand(_array([batch, *inputs, features * groups]))},"
        f" {module.operand(_array([*kernels, features, results * groups]))}"
    )
    return (
        f"{result} convolution({operands}), window={{size={sizes} stride={strides} pad={pads}"
        f" lhs_dilate={lhs} rhs_dilate={rhs}}}, dim_labels=b01f_01io->b01f,"
        f" feature_group_count={groups}"
    )


def _reduce(module: _Module) -> str:
    a, b, c = module.sizes(3)
    operands = f"{module.operand(_array([a, b, c]))}, {module.operand('f32[]')}"
    opcode = module.generator.choice(("add", "power", "maximum"))
    return (
        f"{_array([b])} reduce({operands}), dimensions={{0,2}}, to_apply={module.reducer(opcode)}"
    )


def _reduce_window(module: _Module) -> str:
    size = module.generator.randint(2, 9)
    low, high = (size - 1, size - 1) if module.generator.random() < 0.5 else (size - 1, 0)
    window = low + high + 1
    operands = f"{module.operand(_array([size]))}, {module.operand('f32[]')}"
    return (
        f"{_array([size])} reduce-window({operands}), window={{size={window} pad={low}_{high}}},"
        f" to_apply={module.reducer()}"
    )


def _select_and_scatter(module: _Module) -> str:
    count, size = module.generator.randint(1, 5), module.generator.randint(1, 4)
    shape = _array([count * size])
    operands = (
        f"{module.operand(shape)}, {module.operand(_array([count]))}, {module.operand('f32[]')}"
    )
    select, scatter = module.reducer("compare", result="pred"), module.reducer()
    return (
        f"{shape} select-and-scatter({operands}), window={{size={size} stride={size}}},"
        f" select={select}, scatter={scatter}"
    )


def _sort(module: _Module) -> str:
    shape = _array(module.sizes(2))
    compare = module.reducer("compare", result="pred")
    return f"{shape} sort({module.operand(shape)}), dimensions={{1}}, to_apply={compare}"


def _scan(module: _Module) -> str:
    size, width = module.sizes(2)
    shape, carry = _array([size, width]), _array([width])
    module.computations.append(
        f"%step {{\n  %a = {carry} parameter(0)\n  %b = {carry} parameter(1)\n"
        f"  %c = {carry} add(%a, %b)\n  ROOT %t = ({carry}, {carry}) tuple(%c, %c)\n}}\n"
    )
    operands = f"{module.operand(shape)}, {module.operand(carry)}"
    return f"({shape}, {carry}) scan({operands}), dimensions={{0}}, num_carries=1, to_apply=%step"


def _map(module: _Module) -> str:
    shape = _array(module.sizes(1))
    operands = f"{module.operand(shape)}, {module.operand(shape)}"
    return f"{shape} map({operands}), dimensions={{0}}, to_apply={module.reducer('power')}"


def _fft(module: _Module) -> str:
    a, b = module.sizes(2, 40)
    shape = _array([a, b], "c64")
    return f"{shape} fft({module.operand(shape)}), fft_type=FFT, fft_length={{{a},{b}}}"


def _cholesky(module: _Module) -> str:
    batch, size = module.sizes(2)
    shape = _array([batch, size, size])
    return f"{shape} cholesky({module.operand(shape)}), lower=true"


def _triangular_solve(module: _Module) -> str:
    size, count = module.sizes(2)
    shape = _array([size, count])
    operands = f"{module.operand(_array([size, size]))}, {module.operand(shape)}"
    return (
        f"{shape} triangular-solve({operands}), left_side=true, lower=true,"
        " transpose_a=NO_TRANSPOSE"
    )


def _rng(module: _Module) -> str:
    operands = f"{module.operand('f32[]')}, {module.operand('f32[]')}"
    return f"{_array(module.sizes(2))} rng({operands}), distribution=rng_uniform"


def _rng_bit_generator(module: _Module) -> str:
    shape = _array(module.sizes(2), "u32")
    state = module.operand("u64[2]")
    return f"(u64[2], {shape}) rng-bit-generator({state}), algorithm=rng_philox"


def _tuple(module: _Module) -> str:
    shapes = [_array(module.sizes(1)) for _ in range(3)]
    return f"({', '.join(shapes)}) tuple({', '.join(map(module.operand, shapes))})"


def _all_reduce(module: _Module) -> str:
    shape = _array(module.sizes(2))
    return f"{shape} all-reduce({module.operand(shape)}), to_apply={module.reducer()}"


def _all_gather(module: _Module) -> str:
    a, b = module.sizes(2)
    operand = module.operand(_array([a, b]))
    return (
        f"{_array([2 * a, b])} all-gather({operand}), replica_groups={{{{0,1}}}}, dimensions={{0}}"
    )


def _custom_call(module: _Module) -> str:
    shape = _array(module.sizes(2))
    return f'{shape} custom-call({module.operand(shape)}), custom_call_target="f"'


def _slice_start(module: _Module) -> str:
    a, b = module.sizes(2)
    whole, part = _array([a + b]), _array([a])
    operand = module.operand(whole)
    return f"(({whole}), {part}, u32[]) slice-start({operand}), slice={{[{b}:{a + b}]}}"


_CASES: dict[str, Callable[[_Module], str]] = {
    **{name: _elementwise(name, 1) for name in _UNARY},
    **{name: _elementwise(name, 2) for name in _BINARY},
    **{name: _elementwise(name, 2, "s32") for name in _INTEGER},
    "popcnt": _elementwise("popcnt", 1, "s32"),
    "not": _elementwise("not", 1, "pred"),
    "all-gather": _all_gather,
    "all-reduce": _all_reduce,
    "broadcast": _broadcast,
    "cholesky": _cholesky,
    "clamp": _clamp,
    "compare": _compare,
    "concatenate": _concatenate,
    "convert": _convert,
    "convolution": _convolution,
    "custom-call": _custom_call,
    "dot": _dot,
    "dynamic-slice": _dynamic_slice,
    "dynamic-update-slice": _dynamic_update_slice,
    "fft": _fft,
    "gather": _gather,
    "iota": _iota,
    "map": _map,
    "pad": _pad,
    "ragged-dot": _ragged_dot,
    "reduce": _reduce,
    "reduce-precision": _reduce_precision,
    "reduce-window": _reduce_window,
    "reshape": _reshape,
    "reverse": _reverse,
    "rng": _rng,
    "rng-bit-generator": _rng_bit_generator,
    "scan": _scan,
    "scatter": _scatter,
    "select": _select,
    "select-and-scatter": _select_and_scatter,
    "slice": _slice,
    "slice-start": _slice_start,
    "sort": _sort,
    "transpose": _transpose,
    "triangular-solve": _triangular_solve,
    "tuple": _tuple,
}


def _modules(opcode: str) -> Iterator[str]:
    generator = random.Random(f"{_SEED} {opcode}")
    for _ in range(_SHAPES_PER_OPCODE):
        module = _Module(generator)
        yield module.text(_CASES[opcode](module))


@pytest.mark.parametrize("opcode", _CASES)
def test_cost_of_instruction_matches_xla(opcode: str) -> None:
    for text in _modules(opcode):
        _assert_equal(text, text)
