"""iree-compile-tuned for Python programs that compile through ``iree.compiler.tools`` or in process.

``install()`` makes ``iree.compiler.tools`` run ``iree-compile-tuned``. ``tuned_flags()`` returns flags with tuned
configurations for compiles in process (``iree.compiler.api``, iree-turbine).
"""

from ._flags import tuned_flags
from ._tools import TuningWarning, install, uninstall

__all__ = ["TuningWarning", "install", "tuned_flags", "uninstall"]
