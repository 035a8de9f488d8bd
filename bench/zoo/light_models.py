"""The light models in the `onnx` package: architectures of known networks, with random weights at the scale of each layer.

The package's own weights are all 0.02, from `ConstantOfShape`. Such weights would hide wrong results, and the compiler could fold most
of the network.
"""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper, version_converter
from onnx.reference import ReferenceEvaluator

FOLDER = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
# Standard deviation of the last scores. With a larger one, a softmax would be 1 in one place and 0 elsewhere.
SCORE_DEVIATION = 2.0


def light_model(name, opset):
    """The model `name`, with random weights as initializers. The same values in every run."""
    model = version_converter.convert_version(onnx.load(FOLDER / f"light_{name}.onnx"), opset)
    model.ir_version = 8
    fold_constants(model.graph)
    remove_unused(model.graph)
    weights = random_weights(model.graph, np.random.default_rng(1))
    last = last_layer(model.graph)
    set_weights(model.graph, weights)
    factor = SCORE_DEVIATION / deviation_of(model, last.output[0])
    set_weights(model.graph, {one: factor * weights[one] for one in last.input[1:]})
    return model


def fold_constants(graph):
    """Replaces nodes that depend only on initializers by initializers."""
    known = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    for node in list(graph.node):
        if not all(name in known for name in node.input):
            continue
        results = ReferenceEvaluator(node).run(None, {name: known[name] for name in node.input})
        for name, value in zip(node.output, results):
            known[name] = np.asarray(value)
            graph.initializer.append(numpy_helper.from_array(known[name], name))
        graph.node.remove(node)


def remove_unused(graph):
    used = {name for node in graph.node for name in node.input}
    initializers = {one.name: one for one in graph.initializer}
    inputs = [one for one in graph.input if one.name in used and one.name not in initializers]
    del graph.initializer[:], graph.input[:]
    graph.initializer.extend(one for name, one in initializers.items() if name in used)
    graph.input.extend(inputs)


def random_weights(graph, random):
    """Values of the weights, by name. Other constants, such as shapes and ratios, are not weights."""
    initializers = {one.name: one for one in graph.initializer}
    weights = {}

    def draw(name, mean, deviation):
        if name in initializers:
            shape = initializers[name].dims
            weights[name] = mean + deviation * random.standard_normal(shape, dtype=np.float32)

    for node in graph.node:
        if node.op_type in ("Conv", "Gemm"):
            # Keeps the scale of activations. A relu halves the mean of their squares (He et al. 2015).
            gain = 2 if is_rectified(graph, node) else 1
            draw(node.input[1], 0, (gain / fan_in(node, initializers[node.input[1]].dims)) ** 0.5)
            for name in node.input[2:]:
                draw(name, 0, 0.05)
        elif node.op_type == "BatchNormalization":
            _, scale, bias, mean, variance = node.input
            draw(scale, 1, 0.1)
            draw(bias, 0, 0.1)
            draw(mean, 0, 0.1)
            draw(variance, 1, 0.1)
            weights[variance] = np.abs(weights[variance])
        elif node.op_type in ("Mul", "Add"):
            for name in node.input:
                draw(name, 1 if node.op_type == "Mul" else 0, 0.1)
    return weights


def fan_in(node, shape):
    if node.op_type == "Conv":
        return np.prod(shape[1:])
    is_transposed = any(one.name == "transB" and one.i == 1 for one in node.attribute)
    return shape[1 if is_transposed else 0]


def is_rectified(graph, node):
    """Whether a relu follows, directly or after operations that keep the scale."""
    keep_scale = ("BatchNormalization", "Mul", "Add", "Concat", "Reshape", "Transpose")
    followers = [one for one in graph.node if node.output[0] in one.input]
    return any(
        one.op_type == "Relu" or (one.op_type in keep_scale and is_rectified(graph, one)) for one in followers
    )


def set_weights(graph, weights):
    for one in graph.initializer:
        if one.name in weights:
            one.CopyFrom(numpy_helper.from_array(weights[one.name].astype(np.float32), one.name))


def last_layer(graph):
    """The last layer with weights before the output."""
    makers = {name: node for node in graph.node for name in node.output}
    node = makers[graph.output[0].name]
    while node.op_type not in ("Conv", "Gemm"):
        node = makers[node.input[0]]
    return node


def deviation_of(model, name):
    """Standard deviation of the tensor `name` for normally distributed inputs."""
    probed = onnx.ModelProto()
    probed.CopyFrom(model)
    probed.graph.output.append(onnx.ValueInfoProto(name=name))
    session = onnxruntime.InferenceSession(probed.SerializeToString(), providers=["CPUExecutionProvider"])
    [image] = session.get_inputs()
    values = np.random.default_rng(2).standard_normal(image.shape, dtype=np.float32)
    [result] = session.run([name], {image.name: values})
    deviation = float(result.std())
    if not (np.isfinite(deviation) and deviation > 0):
        raise ValueError(f"{name} has a deviation of {deviation}: the weights are of the wrong scale")
    return deviation
