"""Compile programs for a TPU before and after a change that the memory summary advises.

Each program is compiled into ``OUTPUT/KIND/before`` and ``OUTPUT/KIND/after``. An environment with
jax and libtpu is necessary, but no TPU::

    python tests/corpus/advised_programs.py OUTPUT KIND before|after
"""

import os
import sys
from pathlib import Path
from typing import Any

_OUTPUT, _KIND, _VERSION = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
os.environ["XLA_FLAGS"] = f"--xla_dump_to={_OUTPUT / _KIND / _VERSION} --xla_dump_hlo_as_text"
os.environ["TPU_SKIP_MDS_QUERY"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.ad_checkpoint import checkpoint_name  # noqa: E402
from jax.experimental import topologies  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

_DEVICES = topologies.get_topology_desc("v5e:2x2", "tpu").devices
_IS_AFTER = _VERSION == "after"


def _array(*shape: int, dtype: Any = jnp.float32, sharding: Any = None) -> Any:
    sharding = sharding or jax.sharding.SingleDeviceSharding(_DEVICES[0])
    return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding)


def _compile(function: Any, *arguments: Any, **options: Any) -> None:
    traced = jax.jit(function, **options).trace(*arguments)
    traced.lower(lowering_platforms=("tpu",)).compile()


def donation() -> None:
    """Update weights in place."""

    def update(weights: Any, gradients: Any) -> Any:
        pairs = zip(weights, gradients, strict=True)
        return [weight - 0.1 * gradient for weight, gradient in pairs]

    arrays = [_array(4096, 4096) for _ in range(2)]
    _compile(update, arrays, arrays, donate_argnums=(0,) if _IS_AFTER else ())


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


def replication() -> None:
    """Partition the weights."""
    mesh = Mesh(np.array(_DEVICES[:4]), ("i",))
    whole, parts = PartitionSpec(), PartitionSpec("i")

    def apply(weight: Any, x: Any) -> Any:
        return x @ weight

    weight = NamedSharding(mesh, parts if _IS_AFTER else whole)
    _compile(
        apply,
        _array(8192, 8192, sharding=weight),
        _array(512, 8192, sharding=NamedSharding(mesh, parts)),
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
    globals()[_KIND]()
