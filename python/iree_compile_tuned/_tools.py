"""The commands of this package, and how IREE's binding is led to them."""

import importlib.util
import os
from typing import List

_PACKAGE = os.path.dirname(os.path.abspath(__file__))

#: Holds an ``iree-compile`` that is tuned, and nothing else.
_TOOLS = os.path.join(_PACKAGE, "tools")

#: Where ``iree.compiler.tools`` looks first.
_VARIABLE = "IREE_TOOL_PATH"


class TuningWarning(UserWarning):
    """Something about tuning went wrong; the compile goes on without."""


def install() -> None:
    """Has ``iree.compiler.tools`` run ``iree-compile-tuned`` from now on.

    It holds for this process and for those that it starts: ``IREE_TOOL_PATH`` gets a folder in front. The real compiler
    is the one that was called before. Settings are those of ``iree-compile-tuned``: files, and variables such as
    ``IREE_TUNED_BUDGET``. To call it twice is to call it once.

    Raises:
      ModuleNotFoundError: there is no ``iree.compiler`` in this Python.
    """
    before = _without_ours()
    real = os.path.dirname(find_compiler())
    path = [_TOOLS, *before, *([] if real in before else [real])]
    os.environ[_VARIABLE] = os.pathsep.join(path)


def uninstall() -> None:
    """Takes back what ``install()`` has done. Without it, it does nothing."""
    if _TOOLS not in _entries():
        return
    builtin = os.path.dirname(find_compiler())
    rest = [entry for entry in _without_ours() if entry != builtin]
    if rest:
        os.environ[_VARIABLE] = os.pathsep.join(rest)
    else:
        os.environ.pop(_VARIABLE, None)


def command(name: str) -> str:
    """Path of the package's command ``iree-compile-tuned`` or ``iree-tuned``."""
    return os.path.join(_PACKAGE, "bin", name)


def find_compiler() -> str:
    """Path of the real ``iree-compile`` of this Python.

    Raises:
      ModuleNotFoundError: there is no ``iree.compiler`` in this Python.
    """
    # Found without being loaded: that takes a second.
    try:
        spec = importlib.util.find_spec("iree.compiler")
    except ModuleNotFoundError:
        spec = None
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = os.path.join(folder, "_mlir_libs", "iree-compile")
        if os.access(path, os.X_OK):
            return path
    raise ModuleNotFoundError(
        "iree.compiler is not installed: pip install 'iree-compile-tuned[iree]'",
        name="iree.compiler",
    )


def _entries() -> List[str]:
    return os.environ.get(_VARIABLE, "").split(os.pathsep)


def _without_ours() -> List[str]:
    return [entry for entry in _entries() if entry not in ("", _TOOLS)]
