"""A store with calls that wait for a disk until the test lets it answer."""

import threading
from typing import Any

from tests.waiting import PATIENCE_S


class SlowDisk:
    """A store, but for the calls that are named: each waits until the disk may answer."""

    def __init__(self, store: Any, *slow: str) -> None:
        self._store, self._slow = store, frozenset(slow)
        self.is_asked, self.may_answer = threading.Event(), threading.Event()

    def __getattr__(self, name: str) -> Any:
        if name not in self._slow:
            return getattr(self._store, name)

        def wait(*wanted: Any, **options: Any) -> Any:
            self.is_asked.set()
            assert self.may_answer.wait(PATIENCE_S), f"{name} is not answered"
            return getattr(self._store, name)(*wanted, **options)

        return wait
