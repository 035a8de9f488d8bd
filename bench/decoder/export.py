"""Exports one call of a decoder as ONNX: `export.py FOLDER TYPE PHASE SIZE LAYERS WIDTH HEADS VOCABULARY`.

PHASE is `prefill` of SIZE tokens, or `decode` of one token of SIZE sequences. TYPE is one of `TYPES`: that of weights, caches and products. It
writes to FOLDER:
- model.onnx with static shapes, its weights inside
- input0.npy, input1.npy, ...: tokens; for `decode` also positions and caches
- model.json: `inputs`, the paths of the inputs
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper

from network import BLOCK, CAPACITY, Decoder, Sizes, in_blocks, in_bytes

OPSET = 17
# As torch spells them. In `int8`, each matrix has 8 bits and one step for each column; in `int4`, 4 bits, and a step and a zero point for each block
# of a column. Their products are in f32.
TYPES = {"f32": torch.float32, "f16": torch.float16, "int8": torch.float32, "int4": torch.float32}


class Phase(torch.nn.Module):
    """A function of the decoder, for an exporter that takes modules."""

    def __init__(self, decoder, name):
        super().__init__()
        self.decoder, self.name = decoder, name

    def forward(self, *inputs):
        if self.name == "prefill":
            return self.decoder.prefill(*inputs)
        tokens, positions, *caches = inputs
        return self.decoder.decode(tokens, positions, caches)


def export(folder, type, phase, size, sizes):
    decoder = Decoder(sizes).to(TYPES[type]).eval()
    inputs = inputs_of(phase, size, sizes, TYPES[type])
    caches = [f"{kind}{layer}" for layer in range(sizes.layers) for kind in ("keys", "values")]
    torch.onnx.export(
        Phase(decoder, phase),
        tuple(inputs),
        folder / "model.onnx",
        opset_version=OPSET,
        dynamo=False,
        input_names=["tokens", "positions", *caches][: len(inputs)],
        output_names=["logits", *[f"new_{name}" for name in caches]],
    )
    if type in STORED:
        model = onnx.load(folder / "model.onnx")
        STORED[type](model)
        onnx.save(model, folder / "model.onnx")
    paths = [folder / f"input{i}.npy" for i in range(len(inputs))]
    for path, value in zip(paths, inputs, strict=True):
        np.save(path, value.numpy())
    # Write this file last: it marks the others as complete.
    (folder / "model.json").write_text(json.dumps({"inputs": [str(path) for path in paths]}))


def inputs_of(phase, size, sizes, type):
    random = torch.Generator().manual_seed(2)
    batch, length = (1, size) if phase == "prefill" else (size, 1)
    tokens = torch.randint(sizes.vocabulary, (batch, length), generator=random)
    if phase == "prefill":
        return [tokens]
    positions = torch.randint(CAPACITY // 2, CAPACITY, (batch,), generator=random)
    shape = sizes.cache_shape(batch)
    return [tokens, positions, *(torch.randn(shape, generator=random).to(type) for _ in range(2 * sizes.layers))]


def products_of(graph):
    """The products with constant weights (k, n), and their weights."""
    weights = {one.name: one for one in graph.initializer}
    return [(node, weights[node.input[1]]) for node in graph.node if node.op_type == "MatMul" and node.input[1] in weights]


def store_in_8_bits(model):
    """Replaces the weights of all products by their DequantizeLinear."""
    graph = model.graph
    for _, weight in products_of(graph):
        values = numpy_helper.to_array(weight)
        steps = (np.abs(values).max(0) / 127).astype(np.float32)
        stored = np.round(values / steps).astype(np.int8)
        name = weight.name
        weight.CopyFrom(numpy_helper.from_array(stored, f"{name}.stored"))
        graph.initializer.append(numpy_helper.from_array(steps, f"{name}.steps"))
        inputs = [f"{name}.stored", f"{name}.steps"]
        graph.node.insert(0, helper.make_node("DequantizeLinear", inputs, [name], axis=1))


def store_in_4_bits(model):
    """Replaces all products by ONNX Runtime's MatMulNBits. Its domain is no part of ONNX, and `iree-import-onnx` refuses it."""
    graph = model.graph
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    for node, weight in products_of(graph):
        values = torch.from_numpy(numpy_helper.to_array(weight).T.copy())
        integers, factors, zeros = in_blocks(values)
        # Zero points of a column are whole bytes.
        padded = torch.nn.functional.pad(zeros[..., 0].to(torch.uint8), (0, zeros.shape[1] % 2))
        name = weight.name
        weight.CopyFrom(numpy_helper.from_array(in_bytes(integers).numpy(), name))
        parts = {"factors": factors.flatten(), "zeros": in_bytes(padded).flatten()}
        for part, value in parts.items():
            graph.initializer.append(numpy_helper.from_array(value.numpy(), f"{name}.{part}"))
        node.op_type, node.domain = "MatMulNBits", "com.microsoft"
        node.input.extend(f"{name}.{part}" for part in parts)
        sizes = {"K": values.shape[1], "N": values.shape[0], "bits": 4, "block_size": BLOCK}
        node.attribute.extend(helper.make_attribute(key, value) for key, value in sizes.items())


STORED = {"int8": store_in_8_bits, "int4": store_in_4_bits}


if __name__ == "__main__":
    folder, type, phase, size, *sizes = sys.argv[1:]
    export(Path(folder), type, phase, int(size), Sizes(*map(int, sizes)))
