# SPDX-License-Identifier: MIT
"""Steps of TensorFlow in its own loops: traced once, traced again, eager; checkpoints, and a function that fails."""

import copy
import os
import tempfile

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", KERAS_BACKEND="tensorflow")

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
x, y = np.ones((40, 4), "float32"), np.zeros((40, 1), "float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, "relu"), keras.layers.Dense(1)])
optimizer, loss_of = keras.optimizers.SGD(0.1), keras.losses.MeanSquaredError()
batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)


def step(a, b):
    with tf.GradientTape() as tape:
        loss = loss_of(b, model(a))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


traced = tf.function(step)
for i, (a, b) in enumerate(batches):
    with tf.profiler.experimental.Trace("train", step_num=i, _r=1):
        print(float(traced(a, b)))
traced(x[:3], y[:3])
print(traced.experimental_get_tracing_count(), type(traced).__name__)
for a, b in batches.take(2):
    print(float(step(a, b)))
with tempfile.TemporaryDirectory() as folder:
    saved = tf.train.Checkpoint(model=model)
    saved.restore(saved.save(f"{folder}/a"))
    model.save(f"{folder}/m.keras")
    keras.models.load_model(f"{folder}/m.keras")


@tf.function
def fails():
    raise KeyError("k")


try:
    fails()
except KeyError as error:
    print(error)
print(len(copy.deepcopy(model).weights))
