"""Flags for compiles in this process, which run no ``iree-compile``."""

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

#: Flags that name specs. The compiler keeps their values for the whole process, even for later inputs without them.
_STICKY = (
    "--iree-codegen-tuning-spec-path",
    "--iree-preprocessing-pass-pipeline",
    "--iree-preprocessing-transform-spec-filename",
)

#: Codes of results without flags that need no warning.
_NO_FAILURES = (None, "no-gain", "nothing-to-tune", "disabled-by-comment", "own-tuning")

#: Flags of ``_STICKY`` in earlier results. A later result without them resets them.
_given: Set[str] = set()

#: Folder of specs by process id, so that a fork does not remove its parent's folder.
_folders: Dict[int, str] = {}


def tuned_flags(
    path_or_bytes: Union[str, "os.PathLike[str]", bytes],
    flags: Sequence[str],
    *,
    tune: bool = False,
    budget: Optional[float] = None,
) -> List[str]:
    """Returns the flags of a compile, with the tuned configurations of its input in front.

    The result is valid for this input and this process only: its files are removed at the end of the process. The
    compiler keeps flags with specs for all sessions of a process. So call this function for every later input, too: its
    result resets the flags of earlier results.

    Args:
      path_or_bytes: the input: a path, or MLIR text or bytecode.
      flags: all flags of the compile. They must name the target.
      tune: whether to tune misses first.
      budget: time limit of tuning in seconds; the setting ``budget`` by default, which defaults to 60.

    Returns:
      New flags for ``iree.compiler.api.Session.set_flags`` or ``extra_args``. Without a gain or a record they are
      ``flags``. After an error they are ``flags``, too, with a ``TuningWarning``. Both reset flags of earlier results.

    Raises:
      ValueError: no flag names the target.
      ModuleNotFoundError: this Python has no ``iree.compiler``.
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
        if answer["code"] not in _NO_FAILURES:
            raise _Failed(answer["reason"])
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
    """A command failed. The message is the command's."""


def _run(argv: Sequence[str]) -> str:
    """Returns the output of a command. An exit code for incomplete tuning is no error if there is an output."""
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
    """Returns the path of the input, and a unique name for the input with these flags."""
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
