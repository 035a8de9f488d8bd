"""Exports models as StableHLO or in the torch dialect: `export.py FOLDER NAME...`. Without arguments, it lists the models.

For each model NAME, it writes to FOLDER:
- NAME.mlir with one public function, `main`
- NAME.bin, the values of all arguments in order
- NAME.irpa, for models whose weights are parameters
- NAME.json: `inputs`, one value of `--input=` for each argument, and `run`, more flags of the runtime's tools
"""

import json
import re
import sys
from pathlib import Path

import jax
import numpy as np

from architectures import ARCHITECTURES, transformer
from keras_networks import SIZES, keras_network
from torch_text import transformer_text

# By name: the architecture, and the place of its weights (arguments of each call, constants, or parameters in an archive).
MODELS = {name: (name, "arguments") for name in [*ARCHITECTURES, *SIZES]}
for name in ("decode-1", "decode-16", "encoder-128", "resnet50", "mobilenetv3small"):
    MODELS[f"{name}-constants"] = (name, "constants")
for name in ("efficientnetb0", "resnet50"):
    MODELS[f"{name}-bf16"] = (name, "constants")
for name in ("decode-1", "encoder-128"):
    MODELS[f"{name}-parameters"] = (name, "parameters")

# Transformers in the torch dialect, with their sizes.
TORCH = {"speech-encoder-sdpa": (1500, 2, 384, 1536, 6), "encoder-128-sdpa": (128, 4, 768, 3072, 12)}
for name in TORCH:
    MODELS[name] = (name, "arguments")


def export(folder, name):
    architecture, weights_are = MODELS[name]
    if architecture in TORCH:
        model = transformer(*TORCH[architecture])
    elif architecture in ARCHITECTURES:
        model = ARCHITECTURES[architecture]()
    else:
        model = keras_network(architecture, "bfloat16" if name.endswith("-bf16") else "float32")
    if architecture in TORCH:
        arguments = [*model.weights, *model.inputs]
        text = transformer_text(model.weights, *TORCH[architecture])
    elif weights_are == "constants":
        arguments = model.inputs
        lowered = jax.jit(lambda *inputs: model.function(model.weights, *inputs)).lower(*model.inputs)
        text = lowered.as_text(dialect="stablehlo")
    else:
        arguments = [*model.weights, *model.inputs]
        lowered = jax.jit(model.function, keep_unused=True).lower(model.weights, *model.inputs)
        text = lowered.as_text(dialect="stablehlo")
    run = []
    if weights_are == "parameters":
        text = with_parameters(text, len(model.weights))
        arguments = model.inputs
        archive = folder / f"{name}.irpa"
        write_archive(archive, model.weights)
        run.append(f"--parameters=model={archive}")
    (folder / f"{name}.mlir").write_text(text)
    inputs = write_arguments(folder / f"{name}.bin", arguments)
    # Write this file last: it marks the others as complete.
    (folder / f"{name}.json").write_text(json.dumps({"inputs": inputs, "run": run}))


def with_parameters(text, count):
    """Turns the first `count` arguments of main into parameters of the scope `model`."""
    head = re.search(r"^ *func\.func public @main\((.*?)\) -> .*\{$", text, re.MULTILINE)
    arguments = re.findall(r"%arg\d+: tensor<[^>]*>(?: \{[^}]*\})?", head[1])
    types = [re.search(r"tensor<[^>]*>", argument)[0] for argument in arguments[:count]]
    parameters = [
        f'  util.global private @w{i} = #flow.parameter.named<"model"::"w{i}"> : {type}\n' for i, type in enumerate(types)
    ]
    loads = [f"    %arg{i} = util.global.load @w{i} : {type}\n" for i, type in enumerate(types)]
    rest = head[0].replace(head[1], ", ".join(arguments[count:])) + "\n"
    return text[: head.start()] + "".join([*parameters, rest, *loads]) + text[head.end() + 1 :]


def write_archive(path, weights):
    from iree.runtime import ParameterIndex

    index = ParameterIndex()
    for i, values in enumerate(weights):
        index.add_buffer(f"w{i}", values.tobytes())
    index.create_archive_file(str(path))


def write_arguments(path, arguments):
    """Writes one file. Returns values of `--input=`: `@` opens the file, and `+@` continues in it."""
    with open(path, "wb") as file:
        for values in arguments:
            file.write(values.tobytes())
    return [
        "x".join([*map(str, values.shape), ELEMENT_TYPES[str(values.dtype)]]) + f"={'+@'[i == 0]}{path}"
        for i, values in enumerate(arguments)
    ]


ELEMENT_TYPES = {"float32": "f32", "bfloat16": "bf16"}

if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(json.dumps(list(MODELS)))
    for name in sys.argv[2:]:
        export(Path(sys.argv[1]), name)
