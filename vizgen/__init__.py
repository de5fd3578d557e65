"""vizgen: plain Python loops over NumPy arrays at the speed of C.

    from vizgen import accelerate

    @accelerate
    def blur(img):
        ...

The first call with new argument types compiles; what can't be compiled runs
in Python and says once why.
"""

__version__ = "0.1.0"

from . import _core
from .decorator import accelerate
from .errors import CompileError, FallbackWarning, MismatchError

_core.check_environment()

__all__ = ["CompileError", "FallbackWarning", "MismatchError", "accelerate"]
