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
from typing import Dict, List, Optional, Sequence, Set, Tuple, Union

from ._tools import TuningWarning, command, find_compiler

_NAMES_TARGET = re.compile(r"--?iree-hal-(?:target|local-target)")

#: What brings specs to the compiler. It keeps these for its whole process, also for inputs that come without them.
_STICKY = (
    "--iree-codegen-tuning-spec-path",
    "--iree-preprocessing-pass-pipeline",
    "--iree-preprocessing-transform-spec-filename",
)

#: Those that some result has had. They are taken back where a later input has none.
_given: Set[str] = set()

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

    The result is for exactly this input, and for this process: it names files that go with it. The compiler keeps flags
    that name specs until it is told otherwise, whichever session they were for. So ask here for every input that is
    compiled after one that was tuned: the result takes back what is not meant for it.

    Args:
      path_or_bytes: the input: a path, or MLIR text or bytecode.
      flags: all flags of the compile, of which those that name the target have to be.
      tune: whether to measure what is not in the database yet; otherwise only what is there counts.
      budget: seconds for that at most; by default what the setting ``budget`` says, or else 60.

    Returns:
      New flags for ``iree.compiler.api.Session.set_flags`` or ``extra_args``. Where there is nothing to gain, or nothing
      known, they are ``flags``. So they are, with a ``TuningWarning``, when something goes wrong. What an earlier
      result has set is taken back in both.

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
        output = os.path.join(folder, f"{name}.spec.mlir")
        options = ["--compiler", compiler]
        ask = [*options, "spec", source, "-o", output, "--json", "--", *flags]
        answer = json.loads(_run(ask))
        if tune and any(one["outcome"] == "default" for one in answer["operations"]):
            limit = [] if budget is None else ["--budget", str(budget)]
            _run([*options, "tune", source, *limit, "--json", "--", *flags])
            answer = json.loads(_run(ask))
        tuned = [str(flag) for flag in answer["flags"]]
    except (OSError, ValueError, KeyError, TypeError, _Failed) as problem:
        warnings.warn(f"compiling without tuning: {problem}", TuningWarning, stacklevel=2)
        tuned = []
    names = {_name(flag) for flag in tuned}
    taken_back = sorted(_given - names - {_name(flag) for flag in flags})
    _given.update(names.intersection(_STICKY))
    return [*(f"{name}=" for name in taken_back), *tuned, *flags]


def _name(flag: str) -> str:
    return "--" + flag.lstrip("-").split("=", 1)[0]


class _Failed(Exception):
    """A command has failed; the message is its own."""


def _run(argv: Sequence[str]) -> str:
    """What the command prints, also where it says that not everything could be tuned in time."""
    result = subprocess.run(
        [command("iree-tuned"), *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    if result.returncode != 0 and not result.stdout:
        raise _Failed(result.stderr.strip() or f"iree-tuned ended with {result.returncode}")
    return result.stdout


def _as_file(
    source: "Union[str, os.PathLike[str], bytes]", flags: Sequence[str], folder: str
) -> Tuple[str, str]:
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
