# SPDX-License-Identifier: Apache-2.0
"""Trains with JAX; prints as JSON what JAX says that it took from CUDA, and of that used."""

import json
import os

# Take memory when it is needed, not three quarters of the GPU at once.
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax._src import hardware_utils  # noqa: E402

# JAX asks whether there is a /dev/nvidia0 before it looks for a GPU; the simulated one has none.
hardware_utils.has_visible_nvidia_gpu = lambda: True


def loss(weights, batch):
    first, second = weights
    return jnp.square(jnp.maximum(batch @ first, 0) @ second).mean()


@jax.jit
def step(weights, batch):
    value, gradients = jax.value_and_grad(loss)(weights, batch)
    return value, [one - 0.1 * gradient for one, gradient in zip(weights, gradients)]


def main():
    random = np.random.default_rng(0)
    weights = [jnp.asarray(random.standard_normal(shape, np.float32))
               for shape in ((1024, 4096), (4096, 1024))]
    for number in range(4):
        batch = jnp.asarray(random.standard_normal((256 + 32 * number, 1024), np.float32))
        value, weights = step(weights, batch)
        value.block_until_ready()
    stats = jax.devices("cuda")[0].memory_stats()
    print(json.dumps({"taken": stats.get("peak_pool_bytes"), "used": stats["peak_bytes_in_use"]}))


if __name__ == "__main__":
    main()
