"""Flags for compiles that happen in this process, where no ``iree-compile`` can be replaced."""

import atexit
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import warnings
from typing import Dict, List, Optional, Sequence, Union

from ._tools import TuningWarning, command, find_compiler

_NAMES_TARGET = re.compile(r"--?iree-hal-(?:target|local-target)")

#: The folder of this process' specs, by process: a fork must not remove its parent's.
_folders: Dict[int, str] = {}


def tuned_flags(
    path_or_bytes: Union[str, "os.PathLike[str]", bytes],
    flags: Sequence[str],
    *,
    tune: bool = False,
    budget: Optional[float] = None,
) -> List[str]:
    """The flags of a compile, with what was tuned for its input in front.

    The result is for exactly this input, and for this process: it names files that go with it.

    Args:
      path_or_bytes: the input: a path, or MLIR text or bytecode.
      flags: all flags of the compile, of which those that name the target have to be.
      tune: whether to measure what is not in the database yet; otherwise only what is there counts.
      budget: seconds for that at most; by default what the setting ``budget`` says, or else 60.

    Returns:
      New flags for ``iree.compiler.api.Session.set_flags`` or ``extra_args``. Where there is nothing to gain, or nothing
      known, they are ``flags``. So they are, with a ``TuningWarning``, when something goes wrong.

    Raises:
      ValueError: no flag names the target: it would be another one than what is compiled for.
      ModuleNotFoundError: there is no ``iree.compiler`` in this Python.
    """
    flags = list(flags)
    if not any(_NAMES_TARGET.match(flag) for flag in flags):
        raise ValueError(
            "no flag names the target, such as --iree-hal-target-device=local with"
            " --iree-hal-local-target-device-backends=llvm-cpu"
        )
    compiler = find_compiler()
    try:
        folder = _folder()
        source, name = _as_file(path_or_bytes, flags, folder)
        options = ["--compiler", compiler]
        if tune:
            limit = [] if budget is None else ["--budget", str(budget)]
            # What was not tuned in time is no failure: there may be more for the next one.
            _run([*options, "tune", source, *limit, "--json", "--", *flags])
        output = os.path.join(folder, f"{name}.spec.mlir")
        answer = _run([*options, "spec", source, "-o", output, "--json", "--", *flags])
        return [*json.loads(answer.stdout)["flags"], *flags]
    except (OSError, ValueError, KeyError, TypeError, _Failed) as problem:
        warnings.warn(f"compiling without tuning: {problem}", TuningWarning, stacklevel=2)
        return flags


class _Failed(Exception):
    """A command has failed; the message is its own."""


def _run(argv: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    result = subprocess.run(
        [command("iree-tuned"), *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    # It prints its result also where that is not all that was asked for.
    if result.returncode != 0 and not result.stdout:
        raise _Failed(result.stderr.strip() or f"iree-tuned ended with {result.returncode}")
    return result


def _as_file(source, flags: Sequence[str], folder: str):
    """The path of the input, and a name of its own for what is made of it with these flags."""
    digest = hashlib.sha256("\0".join(flags).encode("utf-8", "surrogateescape"))
    if isinstance(source, bytes):
        digest.update(source)
        name = digest.hexdigest()[:32]
        path = os.path.join(folder, f"{name}.mlir")
        with open(path, "wb") as file:
            file.write(source)
        return path, name
    path = os.path.abspath(os.fspath(source))
    with open(path, "rb") as file:
        for chunk in iter(lambda: file.read(1 << 20), b""):
            digest.update(chunk)
    return path, digest.hexdigest()[:32]


def _folder() -> str:
    process = os.getpid()
    if process not in _folders:
        _folders[process] = tempfile.mkdtemp(prefix="iree-tuned-")
    return _folders[process]


@atexit.register
def _remove_folder() -> None:
    folder = _folders.pop(os.getpid(), None)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
