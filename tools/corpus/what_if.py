"""Compile the train step of ``docs/what_if.md`` for a TPU v5e, and write its dump to ``OUTPUT``.

An environment with jax and libtpu is necessary, but no TPU::

    python tools/corpus/what_if.py OUTPUT
"""

import os
import sys
from typing import Any

os.environ["XLA_FLAGS"] = f"--xla_dump_to={sys.argv[1]} --xla_dump_hlo_as_text"
os.environ["TPU_SKIP_MDS_QUERY"] = "1"
os.environ["ALLOW_MULTIPLE_LIBTPU_LOAD"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
from jax.experimental import topologies

_LAYERS, _WIDTH, _ROWS = 8, 2048, 4096


def loss(params: Any, x: Any) -> Any:
    """Apply dense layers, and return the mean of the squares."""
    for weights in params:
        x = jax.nn.gelu(x @ weights)
    return jnp.mean(x.astype(jnp.float32) ** 2)


def train_step(params: Any, x: Any) -> Any:
    """Return the parameters after a step."""
    gradients = jax.grad(loss)(params, x)
    return [one - 0.01 * gradient for one, gradient in zip(params, gradients, strict=True)]


topology = topologies.get_topology_desc("v5e:2x2", "tpu")
sharding = jax.sharding.SingleDeviceSharding(topology.devices[0])
weights = jax.ShapeDtypeStruct((_WIDTH, _WIDTH), jnp.float32, sharding=sharding)
rows = jax.ShapeDtypeStruct((_ROWS, _WIDTH), jnp.bfloat16, sharding=sharding)
traced = jax.jit(train_step).trace([weights] * _LAYERS, rows)
traced.lower(lowering_platforms=("tpu",)).compile()
