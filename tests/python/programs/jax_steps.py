# SPDX-License-Identifier: MIT
"""Steps of JAX: compiled functions of every form, a shape that compiles again, waits, transfers, annotations."""

import copy
import functools
import inspect

import fathom
import jax
import numpy as np
from jax import jit

STEPS = 5


def loss_of(w, x, y):
    return ((x @ w - y) ** 2).mean()


@jit
def train_step(w, x, y):
    """A step."""
    loss, gradient = jax.value_and_grad(loss_of)(w, x, y)
    return w - 0.1 * gradient, loss


@functools.partial(jax.jit, static_argnums=0)
def power(n, x):
    return x**n


class Model:
    @functools.partial(jit, static_argnums=0)
    def add(self, x):
        return power(2, x) + 1


def fails(x):
    raise ValueError("no")


x, y, w = np.ones((8, 4), np.float32), np.zeros((8,), np.float32), np.ones((4,), np.float32)
for i in range(STEPS):
    with jax.profiler.StepTraceAnnotation("train", step_num=i):
        w, loss = train_step(w, *jax.device_put((x, y)))
        print(float(loss))
w, loss = train_step(w, x[:4], y[:4])
jax.block_until_ready(w)
w.block_until_ready()
print(jax.device_get(w), Model().add(w), power(3, w))
print(jax.vmap(power, (None, 0))(2, w), jax.grad(lambda v: power(2, v).sum())(w), copy.deepcopy(power)(2, w))
with jax.profiler.TraceAnnotation("mine", a=1):
    pass
try:
    jit(fails)(w)
except ValueError as error:
    print(error)
print(train_step.__doc__, train_step.__name__, inspect.signature(train_step), train_step.__wrapped__.__name__)
print(train_step.lower(w, x, y).compile()(w, x, y)[1], jax.eval_shape(train_step, w, x, y)[1])
print(isinstance(train_step, jax.stages.Wrapped), train_step == train_step, train_step._cache_size())
for item in fathom.jax.loader([1, 2]):
    print(item)
