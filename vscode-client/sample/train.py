"""The program of the sample dump: a training step of a small language model.

The dump was written by libtpu 0.0.52 with jax 0.10.2, for a TPU v5e, with TPU_SKIP_MDS_QUERY=1:

    XLA_FLAGS="--xla_dump_to=dump --xla_dump_hlo_as_text" JAX_PLATFORMS=cpu python train.py
"""

import jax
import jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding

LAYERS, WIDTH, HEADS, VOCABULARY = 2, 512, 8, 8192
BATCH, LENGTH = 8, 512


def attention(layer, x):
    """Causal self-attention."""
    heads = (BATCH, LENGTH, HEADS, WIDTH // HEADS)
    query, key, value = (jnp.reshape(x @ layer[name], heads) for name in ("query", "key", "value"))
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key)
    mask = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, value)
    return jnp.reshape(mixed, x.shape) @ layer["output"]


def forward(params, tokens):
    """Return the logits of the next tokens."""
    x = params["embedding"][tokens]
    for layer in params["layers"]:
        x = x + attention(layer, x)
        hidden = jax.nn.relu(x @ layer["up"])
        x = x + hidden @ layer["down"]
    return x @ params["embedding"].T


def loss(params, tokens, targets):
    """Return the mean cross entropy."""
    logits = forward(params, tokens).astype(jnp.float32)
    log_probabilities = jax.nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(log_probabilities, targets[..., None], axis=-1))


def train_step(params, tokens, targets):
    """Return the loss and the updated parameters."""
    value, gradients = jax.value_and_grad(loss)(params, tokens, targets)
    return value, jax.tree.map(lambda p, g: p - 0.01 * g, params, gradients)


def compile_for_tpu():
    """Compile the step for a TPU that this machine need not have."""
    topology = topologies.get_topology_desc("v5e:2x2", "tpu")
    sharding = SingleDeviceSharding(topology.devices[0])

    def array(*shape, dtype=jnp.bfloat16):
        return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding)

    square = {name: array(WIDTH, WIDTH) for name in ("query", "key", "value", "output")}
    layer = square | {"up": array(WIDTH, 4 * WIDTH), "down": array(4 * WIDTH, WIDTH)}
    params = {"embedding": array(VOCABULARY, WIDTH), "layers": [layer] * LAYERS}
    tokens = array(BATCH, LENGTH, dtype=jnp.int32)
    step = jax.jit(train_step, donate_argnums=0)
    return step.trace(params, tokens, tokens).lower(lowering_platforms=("tpu",)).compile()


if __name__ == "__main__":
    compile_for_tpu()
