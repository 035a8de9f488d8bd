"""The command line of a runtime that is timed against IREE. Each of its scripts passes a function that opens a model.

SCRIPT versions PACKAGE...                                    prints the versions of packages
SCRIPT run MODEL THREADS FOLDER INPUT...                      writes raw results: FOLDER/0.bin, FOLDER/1.bin, ...
SCRIPT draw MODEL THREADS ORIGINAL COUNT FOLDER INPUT...      writes COUNT draws of inputs, FOLDER/0.0.npy, ..., and the first results of
                                                              both models: FOLDER/0.bin and FOLDER/0.original.bin, ...
SCRIPT time MODEL THREADS REPETITIONS SECONDS INPUT...        prints the seconds of a call in each repetition

INPUT is an .npy file. A repetition calls the model for at least SECONDS, like `iree-benchmark-module`.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import numpy as np

WARM_UP_SECONDS = 0.1


def write_results(call, folder, values):
    for i, result in enumerate(call(values)):
        np.ascontiguousarray(result).tofile(Path(folder) / f"{i}.bin")


def write_draws(call, original, count, folder, values):
    random = np.random.default_rng(3)
    for i in range(int(count)):
        drawn = [drawn_like(value, random) for value in values]
        for at, value in enumerate(drawn):
            np.save(Path(folder) / f"{i}.{at}.npy", value)
        for name, one in (("bin", call), ("original.bin", original)):
            np.ascontiguousarray(one(drawn)[0]).tofile(Path(folder) / f"{i}.{name}")


def drawn_like(value, random):
    if np.issubdtype(value.dtype, np.floating):
        return random.standard_normal(value.shape, dtype=np.float32).astype(value.dtype)
    # Integers may be indices or lengths: the same ones in another order.
    return random.permutation(value.ravel()).reshape(value.shape)


def seconds_of_calls(call, repetitions, seconds, values):
    def per_call(least_seconds):
        started = perf_counter()
        calls = 0
        while calls == 0 or perf_counter() - started < least_seconds:
            call(values)
            calls += 1
        return (perf_counter() - started) / calls

    per_call(WARM_UP_SECONDS)
    return [per_call(float(seconds)) for _ in range(int(repetitions))]


def main(open_model):
    """`open_model(path, threads)` returns a function from the list of inputs to the list of results."""
    command, *arguments = sys.argv[1:]
    if command == "versions":
        print(json.dumps({name: version(name) for name in arguments}))
        return
    model, threads, *arguments = arguments
    call = open_model(model, int(threads))
    if command == "run":
        folder, *paths = arguments
        write_results(call, folder, [np.load(path) for path in paths])
    elif command == "draw":
        original, count, folder, *paths = arguments
        values = [np.load(path) for path in paths]
        write_draws(call, open_model(original, int(threads)), count, folder, values)
    else:
        repetitions, seconds, *paths = arguments
        print(json.dumps(seconds_of_calls(call, repetitions, seconds, [np.load(path) for path in paths])))
