"""Compile programs before and after a change that the memory summary advises.

Each program is compiled into ``OUTPUT/PROGRAM/before`` and ``OUTPUT/PROGRAM/after``: for the CPU if
its name ends so, else for a TPU. An environment with jax and libtpu is necessary, but no TPU::

    python tests/corpus/advised_programs.py OUTPUT PROGRAM before|after
"""

import os
import sys
from pathlib import Path
from typing import Any

_OUTPUT, _PROGRAM, _VERSION = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
_IS_CPU = _PROGRAM.endswith("_cpu")
os.environ["XLA_FLAGS"] = f"--xla_dump_to={_OUTPUT / _PROGRAM / _VERSION} --xla_dump_hlo_as_text"
os.environ["TPU_SKIP_MDS_QUERY"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.ad_checkpoint import checkpoint_name  # noqa: E402
from jax.experimental import topologies  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

_DEVICES = jax.devices() if _IS_CPU else topologies.get_topology_desc("v5e:2x2", "tpu").devices
_IS_AFTER = _VERSION == "after"


def _array(*shape: int, dtype: Any = jnp.float32, sharding: Any = None) -> Any:
    sharding = sharding or jax.sharding.SingleDeviceSharding(_DEVICES[0])
    return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding)


def _compile(function: Any, *arguments: Any, **options: Any) -> None:
    traced = jax.jit(function, **options).trace(*arguments)
    traced.lower(lowering_platforms=("cpu" if _IS_CPU else "tpu",)).compile()


def donation() -> None:
    """Update weights in place."""

    def update(weights: Any, gradients: Any) -> Any:
        pairs = zip(weights, gradients, strict=True)
        return [weight - 0.1 * gradient for weight, gradient in pairs]

    arrays = [_array(4096, 4096) for _ in range(2)]
    _compile(update, arrays, arrays, donate_argnums=(0,) if _IS_AFTER else ())


def donation_of_optimizer() -> None:
    """Update the weights and two moments of a network in place."""

    def loss(weights: Any, x: Any) -> Any:
        for first, second in weights:
            x = jnp.tanh(x @ first) @ second
        return (x**2).mean()

    def step(weights: Any, mean: Any, variance: Any, x: Any) -> Any:
        gradient = jax.grad(loss)(weights, x)
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
        variance = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, variance, gradient)
        weights = jax.tree.map(
            lambda w, m, v: w - 0.01 * m / (jnp.sqrt(v) + 1e-8), weights, mean, variance
        )
        return weights, mean, variance

    weights = [(_array(512, 1024), _array(1024, 512)) for _ in range(3)]
    donated = (0, 1, 2) if _IS_AFTER else ()
    _compile(step, weights, weights, weights, _array(2048, 512), donate_argnums=donated)


def donation_of_weights() -> None:
    """Update the weights of a network in place: XLA also places gradients in the outputs."""

    def loss(weights: Any, x: Any) -> Any:
        for weight in weights:
            x = jnp.tanh(x @ weight)
        return (x**2).mean()

    def step(weights: Any, x: Any) -> Any:
        return jax.tree.map(lambda w, g: w - 0.01 * g, weights, jax.grad(loss)(weights, x))

    weights = [_array(1024, 1024) for _ in range(6)]
    _compile(step, weights, _array(256, 1024), donate_argnums=(0,) if _IS_AFTER else ())


donation_of_optimizer_cpu = donation_of_optimizer
donation_of_weights_cpu = donation_of_weights


def donation_of_cache() -> None:
    """Write to a cache in place."""

    def step(cache: Any, entry: Any, position: Any) -> Any:
        cache = jax.lax.dynamic_update_slice(cache, entry, (0, position, 0))
        return cache, (cache * 2).sum()

    arrays = _array(8, 4096, 512), _array(8, 1, 512), _array(dtype=jnp.int32)
    _compile(step, *arrays, donate_argnums=(0,) if _IS_AFTER else ())


def dtype() -> None:
    """Compute layers in bf16."""

    def loss(weights: Any, x: Any) -> Any:
        if _IS_AFTER:
            weights, x = [weight.astype(jnp.bfloat16) for weight in weights], x.astype(jnp.bfloat16)
        for weight in weights:
            x = jnp.tanh(x @ weight)
        return x.astype(jnp.float32).sum()

    weights = [_array(1024, 1024) for _ in range(8)]
    _compile(jax.grad(loss), weights, _array(16384, 1024))


def padding() -> None:
    """Merge two dimensions that are no multiples of 8 or 128."""
    shape = (100_000, 169) if _IS_AFTER else (100_000, 13, 13)

    def apply(x: Any, y: Any) -> Any:
        return x * y + 1

    _compile(apply, _array(*shape), _array(*shape))


def padding_of_images() -> None:
    """Merge dimensions that are one more than a multiple of 8."""
    shape = (10_000, 1089) if _IS_AFTER else (10_000, 33, 33)

    def apply(x: Any, y: Any) -> Any:
        return jnp.tanh(x) * y

    _compile(apply, _array(*shape), _array(*shape))


def dtype_of_residuals() -> None:
    """Compute layers with residuals in bf16."""

    def loss(weights: Any, x: Any) -> Any:
        if _IS_AFTER:
            weights, x = jax.tree.map(lambda one: one.astype(jnp.bfloat16), (weights, x))
        for weight in weights:
            x = x + jnp.tanh(x @ weight)
        return x.astype(jnp.float32).mean()

    weights = [_array(2048, 2048) for _ in range(6)]
    _compile(jax.grad(loss), weights, _array(16384, 2048))


def replication() -> None:
    """Partition the weights."""
    mesh = Mesh(np.array(_DEVICES[:4]), ("i",))
    whole, parts = PartitionSpec(), PartitionSpec("i")

    def apply(weights: Any, x: Any) -> Any:
        for weight in weights:
            x = jnp.tanh(x @ weight)
        return x

    weight = NamedSharding(mesh, parts if _IS_AFTER else whole)
    _compile(
        apply,
        [_array(4096, 4096, sharding=weight) for _ in range(8)],
        _array(512, 4096, sharding=NamedSharding(mesh, parts)),
    )


def rematerialization() -> None:
    """Compute the activations of each layer again."""

    def layer(weight: Any, x: Any) -> Any:
        return jnp.tanh(jnp.sin(x @ weight) * x)

    def loss(weights: Any, x: Any) -> Any:
        for weight in weights:
            x = (jax.checkpoint(layer) if _IS_AFTER else layer)(weight, x)
        return x.sum()

    weights = [_array(1024, 1024) for _ in range(8)]
    _compile(jax.grad(loss), weights, _array(16384, 1024))


def rematerialization_of_loop() -> None:
    """Compute the activations of each iteration again."""

    def layer(x: Any, weight: Any) -> Any:
        return jnp.tanh(jnp.sin(x @ weight) * x), None

    def loss(weights: Any, x: Any) -> Any:
        body = jax.checkpoint(layer) if _IS_AFTER else layer
        return jax.lax.scan(body, x, weights)[0].sum()

    _compile(jax.grad(loss), _array(8, 1024, 1024), _array(16384, 1024))


def offload() -> None:
    """Keep the activations of each layer in host memory."""
    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[],
        names_which_can_be_offloaded=["activation"],
        offload_src="device",
        offload_dst="pinned_host",
    )

    def layer(weight: Any, x: Any) -> Any:
        x = checkpoint_name(x, "activation") if _IS_AFTER else x
        return jnp.tanh(jnp.sin(x @ weight) * x)

    def loss(weights: Any, x: Any) -> Any:
        one = jax.checkpoint(layer, policy=policy) if _IS_AFTER else layer
        return jax.lax.scan(lambda x, weight: (one(weight, x), None), x, weights)[0].sum()

    _compile(jax.grad(loss), _array(8, 1024, 1024), _array(16384, 1024))


def tuple_tables() -> None:
    """Stack the weights of equal layers."""

    def layer(x: Any, weight: Any) -> Any:
        return jnp.tanh(x @ weight), None

    def apply(weights: Any, x: Any) -> Any:
        if _IS_AFTER:
            return jax.lax.scan(layer, x, weights)[0]
        for weight in weights:
            x = layer(x, weight)[0]
        return x

    weights = _array(64, 512, 512) if _IS_AFTER else [_array(512, 512) for _ in range(64)]
    _compile(apply, weights, _array(64, 512))


if __name__ == "__main__":
    globals()[_PROGRAM]()
