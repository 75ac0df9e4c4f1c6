"""The programs of the profiles in this corpus: ``python profiled_programs.py NAME FOLDER``.

XLA_FLAGS can write dumps of the same compiles. Two runs warm up before the profile.
"""

import os
import sys
from functools import partial

if sys.argv[1] == "sharded":
    flag = "--xla_force_host_platform_device_count=8"
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flag}"

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec


@jax.jit
def scan_layers(x, weights):
    def layer(x, w):
        with jax.named_scope("layer"):
            return jnp.tanh(x @ w), x.sum()

    return jax.lax.scan(layer, x, weights)


@jax.jit
def double(x):
    return jnp.sort(x * 2, axis=0)


@jax.jit
def branches(x, flag):
    y = jax.lax.cond(flag > 0, lambda v: jnp.sin(v) @ v, lambda v: jnp.cos(v), x)
    return double(y) + double(x)


def loss(params, x, y):
    def block(w, h):
        return jax.nn.gelu(h @ w)

    h = x
    for w in params["blocks"]:
        h = jax.checkpoint(block)(w, h)
    return jnp.mean((h @ params["out"] - y) ** 2)


@partial(jax.jit, donate_argnums=0)
def train_step(params, x, y):
    value, gradients = jax.value_and_grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), value


def scan():
    arguments = jnp.ones((64, 128)), jnp.ones((6, 128, 128)) * 0.01
    return lambda: scan_layers(*arguments)


def cond():
    x = jnp.ones((128, 128))
    return lambda: (branches(x, 1), branches(x, -1))


def train():
    state = {"blocks": [jnp.ones((64, 64)) * 0.01 for _ in range(3)], "out": jnp.ones((64, 8))}
    x, y = jnp.ones((128, 64)), jnp.zeros((128, 8))

    def run():
        nonlocal state
        state, value = train_step(state, x, y)
        return value

    return run


def sharded():
    mesh = Mesh(jax.devices(), ("data",))
    x = jax.device_put(jnp.ones((64, 256)), NamedSharding(mesh, PartitionSpec("data")))
    w = jax.device_put(jnp.ones((256, 256)), NamedSharding(mesh, PartitionSpec(None, "data")))

    @jax.jit
    def step(x, w):
        gradient = jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w)))(w)
        return w - 0.1 * gradient, jnp.sum(x @ w)

    return lambda: step(x, w)


run = {"scan": scan, "cond": cond, "train": train, "sharded": sharded}[sys.argv[1]]()
for _ in range(2):
    jax.block_until_ready(run())
with jax.profiler.trace(sys.argv[2]):
    for _ in range(3):
        jax.block_until_ready(run())
