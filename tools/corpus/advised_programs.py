"""Compile programs before and after the changes that the memory summary advises.

All programs of a kind of advice are compiled into ``OUTPUT``, each as the modules
``jit_NAME_before`` and ``jit_NAME_after``. The name is that of the change, a chip, and a model. An
environment with jax and libtpu is necessary, but no TPU::

    python tools/corpus/advised_programs.py OUTPUT KIND
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

_OUTPUT, _KIND = Path(sys.argv[1]), sys.argv[2]
os.environ["XLA_FLAGS"] = f"--xla_dump_to={_OUTPUT} --xla_dump_hlo_as_text"
os.environ["TPU_SKIP_MDS_QUERY"] = "1"
os.environ["ALLOW_MULTIPLE_LIBTPU_LOAD"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.experimental import topologies  # noqa: E402

_TOPOLOGIES = {"v5e": "v5e:2x2", "v6e": "v6e:2x2", "tpu7x": "tpu7x:2x2x1"}
_POLL_SECONDS = 0.05
_Shape = tuple[int, ...]


def _devices(chip: str) -> Any:
    if chip == "cpu":
        return jax.devices()
    return topologies.get_topology_desc(_TOPOLOGIES[chip], "tpu").devices


def _sine(weights: Any, x: Any) -> Any:
    return jnp.tanh(jnp.sin(x @ weights[0]) * x)


def _residual(weights: Any, x: Any) -> Any:
    return x + jnp.tanh(x @ weights[0])


def _mlp(weights: Any, x: Any) -> Any:
    return x + jax.nn.gelu(x @ weights[0]) @ weights[1]


def _gated(weights: Any, x: Any) -> Any:
    return x + (jax.nn.silu(x @ weights[0]) * (x @ weights[1])) @ weights[2]


def _normalized(x: Any) -> Any:
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6)


def _transformer(weights: Any, x: Any) -> Any:
    """Apply attention with heads of 64 elements, then two dense layers."""
    inputs, output, *dense = weights
    rows, length, width = x.shape
    parts = jnp.split(_normalized(x) @ inputs, 3, axis=-1)
    query, key, value = (part.reshape(rows, length, -1, 64) for part in parts)
    scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", query, key) / 8)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", scores, value).reshape(rows, length, width)
    return _mlp(dense, x + mixed @ output)


def _convolution(weights: Any, x: Any) -> Any:
    y = x
    for weight in weights:
        y = jax.lax.conv_general_dilated(
            y, weight, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        y = jax.nn.relu(_normalized(y))
    return x + y


@dataclass(frozen=True)
class _Model:
    """A network of equal layers, unrolled or in a loop."""

    layer: Callable[[Any, Any], Any]
    weights: tuple[_Shape, ...]
    x: _Shape
    count: int = 8
    is_scanned: bool = False

    def arguments(self, chip: str) -> tuple[Any, Any]:
        """Return the weights and the input of the network."""
        sharding = jax.sharding.SingleDeviceSharding(_devices(chip)[0])

        def array(*shape: int) -> Any:
            return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding)

        if self.is_scanned:
            weights: Any = [array(self.count, *one) for one in self.weights]
        else:
            weights = [[array(*one) for one in self.weights] for _ in range(self.count)]
        return weights, array(*self.x)

    def apply(self, weights: Any, x: Any) -> Any:
        """Return the output of the network."""
        if self.is_scanned:
            return jax.lax.scan(lambda x, each: (self.layer(each, x), None), x, weights)[0]
        for each in weights:
            x = self.layer(each, x)
        return x

    def loss(self, weights: Any, x: Any) -> Any:
        """Return a loss in f32."""
        return (self.apply(weights, x).astype(jnp.float32) ** 2).mean()

    def step(self, weights: Any, x: Any) -> Any:
        """Update the weights by their gradients."""
        gradient = jax.grad(self.loss)(weights, x)
        return jax.tree.map(lambda w, g: w - 0.01 * g, weights, gradient)

    def adam(self, weights: Any, mean: Any, variance: Any, x: Any) -> Any:
        """Update the weights and two moments."""
        gradient = jax.grad(self.loss)(weights, x)
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
        variance = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, variance, gradient)
        weights = jax.tree.map(
            lambda w, m, v: w - 0.01 * m / (jnp.sqrt(v) + 1e-8), weights, mean, variance
        )
        return weights, mean, variance


_MODELS = {
    "sine": _Model(_sine, ((1024, 1024),), (16384, 1024)),
    "residual": _Model(_residual, ((1024, 1024),), (8192, 1024)),
    "mlp": _Model(_mlp, ((512, 2048), (2048, 512)), (16384, 512)),
    "gated": _Model(_gated, ((512, 1536), (512, 1536), (1536, 512)), (16384, 512)),
    "transformer": _Model(
        _transformer, ((512, 1536), (512, 512), (512, 2048), (2048, 512)), (16, 512, 512), 6
    ),
    "convolution": _Model(_convolution, ((3, 3, 128, 128),) * 2, (32, 56, 56, 128)),
}
_MODELS |= {f"{name}_loop": replace(one, is_scanned=True) for name, one in _MODELS.items()}

_Program = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
_Change = Callable[[_Model, str], Iterator[_Program]]  # yields two versions of a program


def _donated_weights(model: _Model, chip: str) -> Iterator[_Program]:
    for donated in ((), (0,)):
        yield model.step, model.arguments(chip), {"donate_argnums": donated}


def _donated_state(model: _Model, chip: str) -> Iterator[_Program]:
    weights, x = model.arguments(chip)
    for donated in ((), (0, 1, 2)):
        yield model.adam, (weights, weights, weights, x), {"donate_argnums": donated}


def _donated_cache(model: _Model, chip: str) -> Iterator[_Program]:
    def step(cache: Any, entry: Any, position: Any) -> Any:
        cache = jax.lax.dynamic_update_slice(cache, entry, (position, 0))
        return cache, (cache * 2).sum()

    _, cache = model.arguments(chip)
    entry, position = (jax.ShapeDtypeStruct(one, cache.dtype) for one in ((1, cache.shape[1]), ()))
    arrays = cache, entry, position.update(dtype=jnp.int32)
    for donated in ((), (0,)):
        yield step, arrays, {"donate_argnums": donated}


def _narrow(model: _Model, chip: str) -> Iterator[_Program]:
    def loss(weights: Any, x: Any) -> Any:
        weights, x = jax.tree.map(lambda one: one.astype(jnp.bfloat16), (weights, x))
        return model.loss(weights, x)

    for function in (model.loss, loss):
        yield jax.grad(function), model.arguments(chip), {}


def _recomputed(model: _Model, chip: str) -> Iterator[_Program]:
    for layer in (model.layer, jax.checkpoint(model.layer)):
        yield jax.grad(replace(model, layer=layer).loss), model.arguments(chip), {}


def _recomputed_step(model: _Model, chip: str) -> Iterator[_Program]:
    weights, x = model.arguments(chip)
    for layer in (model.layer, jax.checkpoint(model.layer)):
        changed = replace(model, layer=layer)
        yield changed.adam, (weights, weights, weights, x), {"donate_argnums": (0, 1, 2)}


def _merged(*shape: int, dtype: Any = jnp.float32) -> _Change:
    """Return a change that merges all dimensions of an array but the first."""

    def versions(model: _Model, chip: str) -> Iterator[_Program]:
        del model
        sharding = jax.sharding.SingleDeviceSharding(_devices(chip)[0])
        for changed in (shape, (shape[0], int(np.prod(shape[1:])))):
            array = jax.ShapeDtypeStruct(changed, dtype, sharding=sharding)
            yield lambda x, y: jnp.tanh(x) * y + 1, (array, array), {}

    versions.__name__ = f"merged_{jnp.dtype(dtype).name}_{'_'.join(map(str, shape))}"
    return versions


# The models of each change, after the name of the chip.
_PROGRAMS: dict[str, dict[_Change, str]] = {
    "donation": {
        _donated_weights: "v5e_mlp v6e_gated_loop tpu7x_transformer cpu_mlp cpu_transformer_loop",
        _donated_state: "v5e_transformer v5e_gated_loop tpu7x_mlp cpu_gated",
        _donated_cache: "v5e_mlp v6e_gated cpu_mlp",
    },
    "dtype": {
        _narrow: "v5e_sine v5e_residual v5e_mlp v5e_transformer v5e_convolution v5e_gated_loop "
        "v5e_transformer_loop v6e_gated v6e_mlp_loop tpu7x_transformer tpu7x_sine_loop "
        "tpu7x_convolution",
    },
    "padding": {
        _merged(100_000, 13, 13): "v5e_x tpu7x_x",
        _merged(100_000, 13, 13, dtype=jnp.bfloat16): "v5e_x",
        _merged(10_000, 33, 33): "v5e_x v6e_x",
        _merged(4096, 100, 9): "v5e_x",
        _merged(64, 200, 200, 3): "v5e_x tpu7x_x",
        _merged(20_000, 5, 70): "v6e_x",
        _merged(1000, 12, 1000): "v5e_x",
        _merged(3, 1000, 2000, 2): "v5e_x",
    },
    "rematerialization": {
        _recomputed: "v5e_sine v5e_sine_loop v5e_mlp v5e_transformer v5e_transformer_loop "
        "v5e_convolution v6e_gated v6e_gated_loop tpu7x_mlp_loop cpu_mlp cpu_gated_loop",
        _recomputed_step: "v5e_transformer_loop tpu7x_transformer v6e_convolution_loop",
    },
}


def _exit_after_buffer_assignment(name: str) -> None:
    """End the process when libtpu has assigned buffers: the machine code takes a minute."""
    while not list(_OUTPUT.glob(f"*.jit_{name}.*after_buffer_assignment.txt")):
        time.sleep(_POLL_SECONDS)
    os._exit(0)


def _compile(name: str, chip: str, program: _Program) -> None:
    function, arguments, options = program

    def run(*arguments: Any) -> Any:
        return function(*arguments)

    run.__name__ = name
    if chip != "cpu":
        threading.Thread(target=_exit_after_buffer_assignment, args=(name,), daemon=True).start()
    traced = jax.jit(run, **options).trace(*arguments)
    traced.lower(lowering_platforms=("cpu" if chip == "cpu" else "tpu",)).compile()
    os._exit(0)


def _main() -> None:
    """Compile each version of each program in a process of its own."""
    for change, programs in _PROGRAMS[_KIND].items():
        for program in programs.split():
            chip, _, model = program.partition("_")
            name = f"{change.__name__.lstrip('_')}_{program}"
            for number, version in enumerate(("before", "after")):
                child = os.fork()
                if child == 0:
                    compiled = list(change(_MODELS.get(model, _MODELS["mlp"]), chip))[number]
                    _compile(f"{name}_{version}", chip, compiled)
                _, status = os.waitpid(child, 0)
                if status:
                    sys.exit(f"{name}_{version} does not compile")


if __name__ == "__main__":
    _main()
