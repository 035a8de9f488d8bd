"""A compile that brings everything that the command brings."""

import os
import subprocess
import tempfile
from typing import Any, List, Optional, Sequence, Union

from ._tools import command, find_compiler


class CompileError(Exception):
    """The compiler failed. The message is the compiler's."""


def compile_tuned(
    source: "Union[str, os.PathLike[str], bytes, Any]",
    flags: Sequence[str],
    *,
    budget: Optional[float] = None,
    dim: Optional[str] = None,
) -> bytes:
    """Compiles a program as ``iree-compile-tuned`` does, and returns the module.

    Unlike ``tuned_flags``, it brings other forms, data tiling, and configurations that only reach an executable.

    Args:
      source: a path, MLIR text or bytecode as bytes, or an export of iree-turbine (anything with ``save_mlir``).
      flags: all flags of the compile. They must name the target.
      budget: time limit of tuning in seconds; the setting ``budget`` by default, which defaults to 60.
      dim: sizes of dynamic dimensions, such as ``batch=1,4 seq=512``; the setting ``dim`` by default.

    Raises:
      CompileError: the program does not compile.
      ModuleNotFoundError: this Python has no ``iree.compiler``.
    """
    options = [f"--iree-tuned-compiler={find_compiler()}"]
    if budget is not None:
        options.append(f"--iree-tuned-budget={budget}")
    if dim is not None:
        options.append(f"--iree-tuned-dim={dim}")
    with tempfile.TemporaryDirectory(prefix="iree-tuned-") as folder:
        output = os.path.join(folder, "module.vmfb")
        options += ["-o", output]
        if isinstance(source, (str, os.PathLike)):
            _run([os.fspath(source), *flags, *options], os.devnull)
        else:
            # From stdin: a module holds the path of its input, which would differ from one compile to the next.
            _run(["-", *flags, *options], _saved(source, folder))
        with open(output, "rb") as file:
            return file.read()


def _saved(source: Any, folder: str) -> str:
    """Returns the path of a file with the source."""
    path = os.path.join(folder, "module.mlir")
    if isinstance(source, bytes):
        with open(path, "wb") as file:
            file.write(source)
    elif hasattr(source, "save_mlir"):
        source.save_mlir(path)
    else:
        raise TypeError(f"a path, bytes or an export with save_mlir is needed, not {type(source).__name__}")
    return path


def _run(arguments: List[str], source: str) -> None:
    with open(source, "rb") as stdin:
        result = subprocess.run(
            [command("iree-compile-tuned"), *arguments],
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
    if result.returncode != 0:
        raise CompileError(result.stderr.strip() or f"iree-compile-tuned ended with {result.returncode}")
