"""iree-compile-tuned in Python: for who compiles by ``iree.compiler.tools``, or in process.

``install()`` has ``iree.compiler.tools`` run ``iree-compile-tuned``; ``tuned_flags()`` gives flags with what was tuned to
those who hand an input to the compiler themselves (``iree.compiler.api``, iree-turbine).
"""

from ._flags import tuned_flags
from ._tools import TuningWarning, install, uninstall

__all__ = ["TuningWarning", "install", "tuned_flags", "uninstall"]
