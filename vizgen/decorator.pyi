from collections.abc import Callable
from typing import Literal, ParamSpec, TypeVar, overload

from ._core import Accelerated

P = ParamSpec("P")
R = TypeVar("R")

@overload
def accelerate(
    fn: Callable[P, R],
    *,
    strict: bool = False,
    approx: str | None = None,
    target: Literal["cpu"] = "cpu",
    threads: int | None = None,
) -> Accelerated[P, R]: ...
@overload
def accelerate(
    *,
    strict: bool = False,
    approx: str | None = None,
    target: Literal["cpu"] = "cpu",
    threads: int | None = None,
) -> Callable[[Callable[P, R]], Accelerated[P, R]]: ...
