"""What is added to exceptions of functions that autograd could not trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

DIFFERENCES = ', or pass jac="2-point" for finite differences'


class Noting:
    """A block whose exceptions gain a note where the function runs on plain numbers.

    `run_plainly` lends these read-only: a function that writes into them needs another remedy.
    """

    __slots__ = ("_remedy", "_run_plainly")

    def __init__(self, run_plainly: Callable[[], Any], remedy: str = DIFFERENCES) -> None:
        self._run_plainly, self._remedy = run_plainly, remedy

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if isinstance(error, Exception):
            _add_note(error, self._run_plainly, self._remedy)


def _add_note(error: Exception, run_plainly: Callable[[], Any], remedy: str) -> None:
    """Say what to do in an exception of a traced function that runs on plain numbers."""
    start = "autograd could not trace this function"
    if any(note.startswith(start) for note in getattr(error, "__notes__", ())):
        return
    try:
        run_plainly()
    except Exception:
        return
    error.add_note(
        f'{start}, which runs on plain numbers: write it with "import autograd.numpy as np"{remedy}'
    )
