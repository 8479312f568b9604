"""Count what requests of a test ask of Postgres."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine

_is_own: ContextVar[bool] = ContextVar("is_own", default=False)


@contextmanager
def own_statements(database: AsyncEngine) -> Iterator[list[str]]:
    """Collect the statements of this task and those it begins, not those of the background."""
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        if _is_own.get():
            seen.append(statement)

    engine, mark = database.sync_engine, _is_own.set(True)
    event.listen(engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(engine, "before_cursor_execute", note)
        _is_own.reset(mark)
