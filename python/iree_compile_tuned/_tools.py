"""Commands of this package, and the redirection of IREE's Python binding to them."""

import importlib.util
import os
from typing import List

_PACKAGE = os.path.dirname(os.path.abspath(__file__))

#: A folder with the tuned ``iree-compile`` only.
_TOOLS = os.path.join(_PACKAGE, "tools")

#: Search path of ``iree.compiler.tools``.
_VARIABLE = "IREE_TOOL_PATH"


class TuningWarning(UserWarning):
    """Tuning failed. The compile goes on without it."""


def install() -> None:
    """Makes ``iree.compiler.tools`` run ``iree-compile-tuned``, in this process and its children.

    It puts a folder in front of ``IREE_TOOL_PATH``. The real compiler stays the same. The settings of
    ``iree-compile-tuned`` apply: files, and variables such as ``IREE_TUNED_BUDGET``. A second call does nothing.

    Raises:
      ModuleNotFoundError: this Python has no ``iree.compiler``.
    """
    before = _without_ours()
    real = os.path.dirname(find_compiler())
    path = [_TOOLS, *before, *([] if real in before else [real])]
    os.environ[_VARIABLE] = os.pathsep.join(path)


def uninstall() -> None:
    """Reverts ``install()``. Without ``install()`` it does nothing."""
    if _TOOLS not in _entries():
        return
    builtin = os.path.dirname(find_compiler())
    rest = [entry for entry in _without_ours() if entry != builtin]
    if rest:
        os.environ[_VARIABLE] = os.pathsep.join(rest)
    else:
        os.environ.pop(_VARIABLE, None)


def command(name: str) -> str:
    """Returns the path of the command ``iree-compile-tuned`` or ``iree-tuned``."""
    return os.path.join(_PACKAGE, "bin", name)


def find_compiler() -> str:
    """Returns the path of the real ``iree-compile`` of this Python.

    Raises:
      ModuleNotFoundError: this Python has no ``iree.compiler``.
    """
    # Without an import of the package, which takes a second.
    try:
        spec = importlib.util.find_spec("iree.compiler")
    except ModuleNotFoundError:
        spec = None
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = os.path.join(folder, "_mlir_libs", "iree-compile")
        if os.access(path, os.X_OK):
            return path
    raise ModuleNotFoundError(
        "iree.compiler is not installed: pip install iree-base-compiler",
        name="iree.compiler",
    )


def _entries() -> List[str]:
    return os.environ.get(_VARIABLE, "").split(os.pathsep)


def _without_ours() -> List[str]:
    return [entry for entry in _entries() if entry not in ("", _TOOLS)]
