"""iree-compile-tuned for Python programs that compile through ``iree.compiler.tools`` or in process.

``compile_tuned()`` compiles a path, a text or an export of iree-turbine as the command does. ``install()`` makes
``iree.compiler.tools`` run ``iree-compile-tuned``. ``tuned_flags()`` returns flags with tuned configurations for
compiles in process (``iree.compiler.api``).
"""

from ._compile import CompileError, compile_tuned
from ._flags import tuned_flags
from ._tools import TuningWarning, install, uninstall

__all__ = ["CompileError", "TuningWarning", "compile_tuned", "install", "tuned_flags", "uninstall"]
