"""A training step with sharded parameters, whose collectives XLA for TPU7x runs on the SparseCore.

Its dump is the folder ``tpu7x_fsdp``. Do not change the program: the dump names its lines.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

WIDTH, HIDDEN, BATCH = 2048, 8192, 1024
DEVICES = topologies.get_topology_desc("tpu7x:2x2x1", "tpu").devices
MESH = Mesh(np.array(DEVICES), ("data",))


def spec(shape, *axes):
    """Return an array whose dimensions are sharded over these axes."""
    sharding = NamedSharding(MESH, PartitionSpec(*axes))
    return jax.ShapeDtypeStruct(shape, jnp.bfloat16, sharding=sharding)


def loss(params, x):
    """Return the loss of a layer with sharded weights, and one that each device has."""
    hidden = jax.nn.gelu(x @ params["up"])
    y = x + hidden @ params["down"]
    y = y @ params["head"]
    return jnp.mean(jnp.square(y.astype(jnp.float32)))


def fsdp_step(params, x):
    """Return the loss and the new parameters."""
    value, gradients = jax.value_and_grad(loss)(params, x)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)


PARAMS = {
    "up": spec((WIDTH, HIDDEN), "data", None),
    "down": spec((HIDDEN, WIDTH), None, "data"),
    "head": spec((WIDTH, WIDTH)),
}
SHARDINGS = jax.tree.map(lambda parameter: parameter.sharding, PARAMS)
STEP = jax.jit(
    fsdp_step, donate_argnums=0, out_shardings=(NamedSharding(MESH, PartitionSpec()), SHARDINGS)
)
X = spec((BATCH, WIDTH), "data", None)
STEP.trace(PARAMS, X).lower(lowering_platforms=("tpu",)).compile()
