"""Writes networks of 8 bits in TOSA, as TFLite's models arrive: channels innermost, zero points apart, and `rescale` behind each sum.

It translates a network of convolutions that ONNX Runtime has quantized with QuantizeLinear and DequantizeLinear, so results can be compared.
"""

import numpy as np
from onnx import numpy_helper

# An addition has this many more bits than its terms.
ADDED_BITS = 20
# Names of types in MLIR.
TYPES = {"int8": "i8", "int32": "i32", "float32": "f32"}


class Tensor:
    """A value of the program. `shape` has the channels innermost; `scale` and `zero` are null for floats."""

    def __init__(self, name, shape, element, scale=None, zero=None):
        self.name, self.shape, self.element, self.scale, self.zero = name, list(shape), element, scale, zero

    @property
    def type(self):
        return f"tensor<{'x'.join(map(str, [*self.shape, self.element]))}>"


class Numbers:
    def __init__(self, name, type):
        self.name, self.type = name, type


class Program:
    """The operations of a function, in order."""

    def __init__(self):
        self.lines = []

    def constant(self, values):
        values = np.ascontiguousarray(values)
        # One element is a splat, and a string of its bytes would not be one.
        text = f'"0x{values.tobytes().hex().upper()}"' if values.size > 1 else str(values.flatten()[0])
        tensor = Tensor(self.new_name(), values.shape, TYPES[str(values.dtype)])
        self.lines.append(
            f'{tensor.name} = "tosa.const"() <{{values = dense<{text}> : {tensor.type}}}> : () -> {tensor.type}'
        )
        return tensor

    def numbers(self, values):
        """Sizes or positions that an operation takes as an operand."""
        name, type = self.new_name(), f"!tosa.shape<{len(values)}>"
        dense = f"dense<[{', '.join(map(str, values))}]> : tensor<{len(values)}xindex>"
        self.lines.append(f'{name} = "tosa.const_shape"() <{{values = {dense}}}> : () -> {type}')
        return Numbers(name, type)

    def add(self, operation, operands, shape, element, attributes="", **quantized):
        result = Tensor(self.new_name(), shape, element, **quantized)
        names, types = (", ".join(getattr(one, of) for one in operands) for of in ("name", "type"))
        properties = f" <{{{attributes}}}>" if attributes else ""
        self.lines.append(f'{result.name} = "tosa.{operation}"({names}){properties} : ({types}) -> {result.type}')
        return result

    def new_name(self):
        return f"%v{len(self.lines)}"

    def rescale(self, value, factors, element, scale=None, zero=0):
        """Multiplies integers by real factors, one for all or one for each channel, and rounds."""
        multipliers, shifts = zip(*(fixed_point(one) for one in factors))
        from_zero = 0 if value.zero is None else value.zero
        operands = [
            value,
            self.constant(np.array(multipliers, np.int32)),
            self.constant(np.array(shifts, np.int8)),
            self.constant(np.array([from_zero], np.int8 if value.element == "i8" else np.int32)),
            self.constant(np.array([zero], np.int8 if element == "i8" else np.int32)),
        ]
        attributes = (
            "input_unsigned = false, output_unsigned = false, scale32 = true, rounding_mode = #tosa.rounding_mode<DOUBLE_ROUND>, "
            f"per_channel = {'true' if len(factors) > 1 else 'false'}"
        )
        return self.add("rescale", operands, value.shape, element, attributes, scale=scale, zero=zero)

    def text(self, argument, result):
        body = "\n".join(f"  {one}" for one in self.lines)
        signature = f"func.func @main({argument.name}: {argument.type}) -> {result.type}"
        return f"{signature} {{\n{body}\n  return {result.name} : {result.type}\n}}\n"


def fixed_point(factor):
    """A multiplier of 31 bits and a shift to the right."""
    fraction, exponent = np.frexp(factor)
    multiplier = int(round(fraction * (1 << 31)))
    if multiplier == 1 << 31:
        return 1 << 30, int(30 - exponent)
    return multiplier, int(31 - exponent)


class Translation:
    """Of one ONNX graph, whose operations each lie between DequantizeLinear and QuantizeLinear."""

    def __init__(self, graph):
        self.graph = graph
        self.program = Program()
        self.constants = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
        self.producers = {output: node for node in graph.node for output in node.output}
        self.consumers = {name: node for node in graph.node for name in node.input}
        self.values = {}

    def run(self):
        [given], [wanted] = self.graph.input, self.graph.output
        shape = [one.dim_value for one in given.type.tensor_type.shape.dim]
        argument = Tensor("%image", shape, "f32")
        self.values[given.name] = argument
        for node in self.graph.node:
            self.translate(node)
        return self.program.text(argument, self.values[wanted.name])

    def translate(self, node):
        kind = node.op_type
        if kind == "DequantizeLinear":
            if node.output[0] == self.graph.output[0].name:
                self.values[node.output[0]] = self.floats(self.values[node.input[0]])
            elif node.input[0] in self.values:
                self.values[node.output[0]] = self.values[node.input[0]]
        elif kind == "QuantizeLinear":
            value = self.values[node.input[0]]
            self.values[node.output[0]] = value if value.element == "i8" else self.integers(value, node)
        else:
            translate = getattr(self, kind, None)
            if translate is None:
                raise ValueError(f"{kind} has no translation to TOSA")
            self.values[node.output[0]] = translate(node)

    def quantization(self, node):
        """Scale and zero point behind an operation, from the next QuantizeLinear."""
        after = self.consumers[node.output[0]]
        return dict(scale=float(self.constants[after.input[1]]), zero=int(self.constants[after.input[2]]))

    def stored(self, name):
        """Integers and scales of weights."""
        node = self.producers[name]
        return self.constants[node.input[0]], np.atleast_1d(self.constants[node.input[1]])

    def integers(self, value, node):
        scale, zero = (self.constants[name] for name in node.input[1:3])
        rows, columns = value.shape[2:]
        shape = [value.shape[0], rows, columns, value.shape[1]]
        last = self.program.add("transpose", [value], shape, "f32", "perms = array<i32: 0, 2, 3, 1>")
        scaled = self.multiplied(last, 1 / scale)
        moved = self.with_one("add", scaled, float(zero))
        return self.program.add("cast", [moved], shape, "i8", scale=float(scale), zero=int(zero))

    def floats(self, value):
        wide = self.program.add("cast", [value], value.shape, "f32")
        return self.multiplied(self.with_one("sub", wide, float(value.zero)), value.scale)

    def with_one(self, operation, value, number):
        one = self.program.constant(np.full([1] * len(value.shape), number, np.float32))
        return self.program.add(operation, [value, one], value.shape, "f32")

    def multiplied(self, value, number):
        one = self.program.constant(np.full([1] * len(value.shape), number, np.float32))
        shift = self.program.constant(np.array([0], np.int8))
        return self.program.add("mul", [value, one, shift], value.shape, "f32")

    def Conv(self, node):
        attributes = {one.name: one for one in node.attribute}
        ints = lambda name, default: list(attributes[name].ints) if name in attributes else default
        weights, _ = self.stored(node.input[1])
        return self.convolution(
            node,
            weights,
            ints("strides", [1, 1]),
            ints("pads", [0, 0, 0, 0]),
            attributes["group"].i if "group" in attributes else 1,
        )

    def Gemm(self, node):
        weights, _ = self.stored(node.input[1])
        if not any(one.name == "transB" and one.i for one in node.attribute):
            weights = weights.T
        sums = self.convolution(node, weights[:, :, None, None], [1, 1], [0, 0, 0, 0], 1)
        return self.reshaped(sums, [1, sums.shape[-1]])

    def convolution(self, node, weights, strides, pads, groups):
        value = self.values[node.input[0]]
        count, depth, *kernel = weights.shape
        # A row of a matrix is an image of one pixel.
        if len(value.shape) == 2:
            value = self.reshaped(value, [1, 1, 1, value.shape[1]])
        is_depthwise = groups == value.shape[-1] and groups > 1
        if groups > 1 and (not is_depthwise or count != groups):
            raise ValueError("TOSA has no grouped convolution")
        scales = value.scale * np.broadcast_to(self.stored(node.input[1])[1], [count]).astype(np.float64)
        filters = self.program.constant(weights.transpose(2, 3, 0, 1) if is_depthwise else weights.transpose(0, 2, 3, 1))
        bias = self.stored(node.input[2])[0] if len(node.input) > 2 else np.zeros([count], np.int32)
        zero = self.program.constant(np.array([value.zero], np.int8))
        sizes, rest = windows(value.shape[1:3], kernel, strides, pads)
        if any(one < 0 for one in rest):
            value, rest = self.cut(value, rest)
        sums = self.program.add(
            "depthwise_conv2d" if is_depthwise else "conv2d",
            [value, filters, self.program.constant(bias), zero, self.program.constant(np.array([0], np.int8))],
            [value.shape[0], *sizes, count],
            "i32",
            f"acc_type = i32, pad = array<i64: {around(pads, rest)}>, stride = array<i64: {pair(strides)}>, dilation = array<i64: 1, 1>",
        )
        after = self.quantization(node)
        return self.program.rescale(sums, scales / after["scale"], "i8", **after)

    def cut(self, value, rest):
        """Leaves out the last rows and columns, which no window reads."""
        shape = [value.shape[0], *(size + min(one, 0) for size, one in zip(value.shape[1:3], rest)), value.shape[3]]
        places = [self.program.numbers(one) for one in ([0, 0, 0, 0], shape)]
        return self.same("slice", [value, *places], shape, value), [max(one, 0) for one in rest]

    def same(self, operation, operands, shape, value, attributes=""):
        """An operation whose result has the scale and zero point of `value`."""
        return self.program.add(operation, operands, shape, "i8", attributes, scale=value.scale, zero=value.zero)

    def reshaped(self, value, shape):
        return self.same("reshape", [value, self.program.numbers(shape)], shape, value)

    def Flatten(self, node):
        value = self.values[node.input[0]]
        if value.shape[1:3] != [1, 1]:
            raise ValueError("Flatten of an image has another order of elements in TOSA")
        return self.reshaped(value, [value.shape[0], value.shape[3]])

    def MaxPool(self, node):
        value = self.values[node.input[0]]
        attributes = {one.name: list(one.ints) for one in node.attribute}
        kernel, strides, pads = (attributes[name] for name in ("kernel_shape", "strides", "pads"))
        sizes, rest = windows(value.shape[1:3], kernel, strides, pads)
        written = f"kernel = array<i64: {pair(kernel)}>, stride = array<i64: {pair(strides)}>, pad = array<i64: {around(pads, rest)}>"
        return self.same("max_pool2d", [value], [value.shape[0], *sizes, value.shape[3]], value, written)

    def GlobalAveragePool(self, node):
        value = self.values[node.input[0]]
        batch, rows, columns, channels = value.shape
        sums = self.program.rescale(value, [1.0], "i32")
        for axis, shape in ((1, [batch, 1, columns, channels]), (2, [batch, 1, 1, channels])):
            sums = self.program.add("reduce_sum", [sums], shape, "i32", f"axis = {axis} : i32")
        after = self.quantization(node)
        return self.program.rescale(sums, [value.scale / (rows * columns) / after["scale"]], "i8", **after)

    def Add(self, node):
        terms = [self.values[name] for name in node.input]
        largest = 2 * max(one.scale for one in terms)
        more = 1 << ADDED_BITS
        wide = [self.program.rescale(one, [one.scale / largest * more], "i32") for one in terms]
        sums = self.program.add("add", wide, wide[0].shape, "i32")
        after = self.quantization(node)
        return self.program.rescale(sums, [largest / more / after["scale"]], "i8", **after)


def windows(image, kernel, strides, pads):
    """Sizes of the result, and the padding behind the last row and column: TOSA wants windows that use all of the image. Below zero, rows are left over."""
    sizes = [(image[at] + pads[at] + pads[at + 2] - kernel[at]) // strides[at] + 1 for at in range(2)]
    rest = [(sizes[at] - 1) * strides[at] + kernel[at] - image[at] - pads[at] for at in range(2)]
    return sizes, rest


def pair(numbers):
    return ", ".join(map(str, numbers))


def around(pads, rest):
    return pair([pads[0], rest[0], pads[1], rest[1]])


def tosa_text(model):
    return Translation(model.graph).run()
