# SPDX-License-Identifier: MIT
"""fit, evaluate and predict of Keras on the backend that KERAS_BACKEND names, and a fit that fails."""

import keras
import numpy as np

keras.utils.set_random_seed(1)
x, y = np.ones((40, 4), "float32"), np.zeros((40, 1), "float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, "relu"), keras.layers.Dense(1)])
model.compile("sgd", "mse")
print(model.fit(x, y, batch_size=4, epochs=2, validation_data=(x, y), verbose=0).history)
print(model.evaluate(x, y, verbose=0), model.predict(x, verbose=0).sum())


class Fails(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch == 2:
            raise ValueError("third batch")


try:
    model.fit(x, y, batch_size=4, verbose=0, callbacks=[Fails()])
except ValueError as error:
    print(error)
