"""new_generation: a value that a device tells again is not a new one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import reactivex as rx
from reactivex import operators as ops

__all__ = ["new_generation"]

T = TypeVar("T")


def new_generation(generation: Callable[[T], object]) -> Callable[[rx.Observable[T]], rx.Observable[T]]:
    """Let an item pass when its generation differs from the last one; an item without (None) passes, and is no news.

    .. marble::

        source: -1-1-2-2-N-N-2-3-|
        result: -1---2---N-N---3-|
    """

    def operator(source: rx.Observable[T]) -> rx.Observable[T]:
        def fresh(_scheduler: object) -> rx.Observable[T]:
            last: list[object] = [None]

            def is_new(item: T) -> bool:
                found = generation(item)
                if found is None:
                    return True
                repeated = found == last[0]
                last[0] = found
                return not repeated

            return source.pipe(ops.filter(is_new))

        return rx.defer(fresh)

    return operator
