"""Networks of keras.applications for one image, without the final softmax, which would hide differences."""

import os

import numpy as np

from architectures import Model, values

SIZES = {"efficientnetb0": 224, "mobilenetv3small": 224, "resnet50": 224, "inceptionv3": 299}


def keras_network(name, element_type):
    """A network that computes in this type, also its sums. Its input and results are f32."""
    os.environ["KERAS_BACKEND"] = "jax"
    import keras

    classes = {
        "efficientnetb0": keras.applications.EfficientNetB0,
        "mobilenetv3small": keras.applications.MobileNetV3Small,
        "resnet50": keras.applications.ResNet50,
        "inceptionv3": keras.applications.InceptionV3,
    }
    keras.utils.set_random_seed(1)
    keras.config.set_dtype_policy(element_type)
    shape = (SIZES[name], SIZES[name], 3)
    network = classes[name](weights=None, classifier_activation=None, input_shape=shape)
    random = np.random.default_rng(1)
    variables = [*network.trainable_variables, *network.non_trainable_variables]
    # Other variables, such as states of random generators, stay constants of the program.
    is_weight = ["float" in variable.dtype for variable in variables]
    weights = [trained(variable, random) for variable, use in zip(variables, is_weight) if use]

    def function(weights, x):
        take = iter(weights).__next__
        all_values = [take() if use else variable.value for variable, use in zip(variables, is_weight)]
        split = len(network.trainable_variables)
        results, _ = network.stateless_call(all_values[:split], all_values[split:], x, training=False)
        return results.astype(np.float32)

    return Model(function, weights, [values(1, *shape)])


def trained(variable, random):
    """Keras's initial values. Constant ones, such as zero biases, get noise, because a compiler could fold constants."""
    initial = np.asarray(variable.value)
    if initial.min() < initial.max():
        return initial
    noise = random.standard_normal(initial.shape, dtype=np.float32)
    return (initial + 0.1 * noise).astype(initial.dtype)
