"""Writes quantized networks with random weights: `quantized_models.py FOLDER`.

ONNX Runtime's quantizer makes int8 models with QuantizeLinear and DequantizeLinear. For each network it writes NAME.onnx, and
NAME-FAULT.onnx with a wrong channel in a convolution in the middle.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

SIZE = 96


class Network:
    """Collects nodes and weights."""

    def __init__(self):
        self.random = np.random.default_rng(3)
        self.nodes, self.weights, self.channels = [], [], {"image": 3}

    def add(self, operation, inputs, channels, **attributes):
        output = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, inputs, [output], **attributes))
        self.channels[output] = channels
        return output

    def weight(self, *shape, scale):
        name = f"w{len(self.weights)}"
        values = (self.random.standard_normal(shape) * scale).astype(np.float32)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def convolution(self, value, channels, size=1, stride=1, groups=1):
        inputs = self.channels[value] // groups
        weight = self.weight(channels, inputs, size, size, scale=(2 / (inputs * size * size)) ** 0.5)
        bias = self.weight(channels, scale=0.1)
        return self.add(
            "Conv", [value, weight, bias], channels, strides=[stride] * 2, pads=[size // 2] * 4, group=groups
        )

    def model(self, value):
        channels = self.channels[value]
        pooled = self.add("GlobalAveragePool", [value], channels)
        flat = self.add("Flatten", [pooled], channels)
        weight = self.weight(channels, 1000, scale=channels**-0.5)
        bias = self.weight(1000, scale=0.1)
        result = self.add("Gemm", [flat, weight, bias], 1000)
        graph = helper.make_graph(
            self.nodes,
            "main",
            [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, SIZE, SIZE])],
            [helper.make_tensor_value_info(result, TensorProto.FLOAT, [1, 1000])],
            self.weights,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def resnet18():
    net = Network()
    value = net.add("Relu", [net.convolution("image", 64, 7, 2)], 64)
    value = net.add("MaxPool", [value], 64, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for channels, stride in [(64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)]:
        inner = net.add("Relu", [net.convolution(value, channels, 3, stride)], channels)
        inner = net.convolution(inner, channels, 3)
        if stride == 2:
            value = net.convolution(value, channels, 1, 2)
        value = net.add("Relu", [net.add("Add", [inner, value], channels)], channels)
    return net.model(value)


def mobilenet_v2():
    net = Network()

    def relu6(value):
        low, high = (numpy_helper.from_array(np.float32(one), f"c{one}") for one in (0, 6))
        for one in (low, high):
            if all(known.name != one.name for known in net.weights):
                net.weights.append(one)
        return net.add("Clip", [value, low.name, high.name], net.channels[value])

    value = relu6(net.convolution("image", 32, 3, 2))
    stages = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for expansion, channels, repeats, first_stride in stages:
        for i in range(repeats):
            stride, inputs = first_stride if i == 0 else 1, net.channels[value]
            wide = inputs * expansion
            inner = relu6(net.convolution(value, wide)) if expansion > 1 else value
            inner = relu6(net.convolution(inner, wide, 3, stride, groups=wide))
            inner = net.convolution(inner, channels)
            value = net.add("Add", [value, inner], channels) if stride == 1 and inputs == channels else inner
    return net.model(relu6(net.convolution(value, 1280)))


class Images(CalibrationDataReader):
    """Images as the comparison draws them."""

    def __init__(self):
        random = np.random.default_rng(1)
        self.left = [random.uniform(-2, 2, (1, 3, SIZE, SIZE)).astype(np.float32) for _ in range(4)]

    def get_next(self):
        return {"image": self.left.pop()} if self.left else None


FAULTS = {
    "zero": lambda w: w.__setitem__(5, 0),
    "swapped": lambda w: w.__setitem__([5, 6], w[[6, 5]]),
    "other": lambda w: w.__setitem__(5, -w[5]),
}


def with_fault(model, fault):
    """A wrong output channel of a quantized convolution in the middle of the network."""
    faulty = onnx.ModelProto()
    faulty.CopyFrom(model)
    weights = [one for one in faulty.graph.initializer if one.data_type == TensorProto.INT8 and len(one.dims) == 4 and one.dims[1] > 1]
    weight = weights[len(weights) // 2]
    values = numpy_helper.to_array(weight).copy()
    FAULTS[fault](values)
    weight.CopyFrom(numpy_helper.from_array(values, weight.name))
    return faulty


def main(folder):
    for name, make in (("resnet18", resnet18), ("mobilenet_v2", mobilenet_v2)):
        plain, quantized = folder / f"{name}-f32.onnx", folder / f"{name}.onnx"
        onnx.save(onnx.shape_inference.infer_shapes(make()), plain)
        quantize_static(
            plain,
            quantized,
            Images(),
            quant_format=QuantFormat.QDQ,
            activation_type=QuantType.QInt8,
            weight_type=QuantType.QInt8,
        )
        model = onnx.load(quantized)
        for fault in FAULTS:
            onnx.save(with_fault(model, fault), folder / f"{name}-{fault}.onnx")


main(Path(sys.argv[1]))
