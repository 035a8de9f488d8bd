"""Runs one model with ONNX Runtime.

onnx_runtime.py versions                                            prints the versions of packages
onnx_runtime.py run MODEL THREADS FOLDER INPUT...                   writes raw results: FOLDER/0.bin, FOLDER/1.bin, ...
onnx_runtime.py time MODEL THREADS REPETITIONS SECONDS INPUT...     prints the seconds of a call in each repetition

INPUT is an .npy file. A repetition calls the model for at least SECONDS, like `iree-benchmark-module`.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import numpy as np
import onnxruntime

WARM_UP_SECONDS = 0.1


def session(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def feeds(opened, paths):
    return {one.name: np.load(path) for one, path in zip(opened.get_inputs(), paths, strict=True)}


def write_results(model, threads, folder, *inputs):
    opened = session(model, int(threads))
    for i, result in enumerate(opened.run(None, feeds(opened, inputs))):
        np.ascontiguousarray(result).tofile(Path(folder) / f"{i}.bin")


def seconds_of_calls(model, threads, repetitions, seconds, *inputs):
    opened = session(model, int(threads))
    values = feeds(opened, inputs)

    def per_call(least_seconds):
        started = perf_counter()
        calls = 0
        while calls == 0 or perf_counter() - started < least_seconds:
            opened.run(None, values)
            calls += 1
        return (perf_counter() - started) / calls

    per_call(WARM_UP_SECONDS)
    return [per_call(float(seconds)) for _ in range(int(repetitions))]


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "versions":
        print(json.dumps({name: version(name) for name in ("onnx", "onnxruntime", "numpy", "iree-base-compiler")}))
    elif command == "run":
        write_results(*arguments)
    else:
        print(json.dumps(seconds_of_calls(*arguments)))
