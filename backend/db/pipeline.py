"""Send prepared statements of many callers over few connections, in pipeline mode.

A controller request needs one statement, which is its own transaction. SQLAlchemy and psycopg's
cursors take several times the processor time of such a statement (R11: two milliseconds against
0.05). They also need one pooled connection for each waiting caller. So only this module uses libpq
directly, in pipeline mode. A statement does not wait for the answers of earlier statements, and
each is committed separately. The socket is always read, so a lost server is noticed without a ping.
All other SQL uses SQLAlchemy.

Notifications are sent separately from the changes that they announce. A commit with a notification
waits for all other such commits, because Postgres holds one lock over the flush. So a thousand
elections could not share flushes. Each notification also wakes a server process and a task for
every listener.
"""

import asyncio
import contextlib
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

import psycopg
from psycopg import pq
from sqlalchemy import URL, Engine, event, text
from sqlalchemy.exc import OperationalError

from backend.db.engine import Connection, Database, connect
from backend.db.spelling import SPELLINGS, STATEMENT_HIDDEN

# Number of connections, and so of commits that can share a flush of Postgres's log.
LANE_COUNT_MAX: Final = 8
IN_FLIGHT_MAX: Final = 1_000
LOOK_INTERVAL_S: Final = 0.2
"""Interval of reads while answers are due: uvloop stops to watch a socket with an error (a reset by
a crashed server), without a report."""

_SUCCESSES: Final = frozenset({pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK})
_PARAMETER: Final = re.compile(r"(?<![:\w]):(\w+)")
NOTIFY_INTERVAL_S: Final = 0.02
"""Notifications within this time after the last one are sent together."""

Row = Sequence[Any]
Values = Mapping[str, Any]


class Statement:
    """Hold SQL with parameters written as `:name`, for a pipeline and for SQLAlchemy.

    A pipeline sends values as text, so SQL casts a value if Postgres could not infer its type.
    """

    def __init__(self, name: str, sql: str, *, is_replanned: bool = False) -> None:
        """Prepare the SQL; `is_replanned` has each execution planned for its number of rows.

        Postgres would soon keep a plan for few rows, which takes seconds with hundreds.
        """
        self.name = name.encode()
        self.is_replanned = is_replanned
        self.names = tuple(dict.fromkeys(_PARAMETER.findall(sql)))
        self.text = text(sql)
        numbers = {parameter: i for i, parameter in enumerate(self.names, start=1)}
        self.sql = _PARAMETER.sub(lambda found: f"${numbers[found[1]]}", sql).encode()

    def encode(self, values: Values) -> list[bytes | None]:
        """Encode the values as Postgres reads them.

        Raises:
            DataError: a text contains a NUL, which would end it.
            TypeError: values of this type are not supported.
        """
        return [SPELLINGS[type(value)](value) for value in map(values.__getitem__, self.names)]


# A change that a notification announces is on the disk already. Another wait for the disk would
# delay other commits.
_NOTIFY: Final = Statement(
    "notify",
    """
SELECT pg_notify(told.channel, told.payload)
  FROM unnest(CAST(:channels AS text[]), CAST(:payloads AS text[])) AS told (channel, payload),
       set_config('synchronous_commit', 'off', true)
""",
)


class Pipeline:
    """Send statements to one database, in the order of the calls within a lane."""

    def __init__(self, database_url: URL) -> None:
        self._url = database_url
        self._lanes: list[_Lane] = []
        self._opening = asyncio.Lock()
        # By channel and payload, in the order of the calls, each once.
        self._unreported: dict[tuple[str, str], None] = {}
        self._notifying: asyncio.Task[None] | None = None

    async def fetch(
        self, statement: Statement, values: Values, *, meanwhile: Callable[[], None] | None = None
    ) -> list[Row]:
        """Execute a statement in its own transaction; each result value is text or None.

        `meanwhile` prepares the use of the answer while the statement is on its way to Postgres. If
        the caller is cancelled, the outcome is unknown: the statement may be committed.

        Raises:
            OperationalError: Postgres refuses, or does not answer; after a lost connection, the
                statement may be committed nevertheless.
        """
        encoded = statement.encode(values)
        lane = self._free_lane() or await self._open_lane()
        return await lane.fetch(statement, encoded, meanwhile)

    def notify(self, channel: str, payload: str = "") -> None:
        """Notify the listeners of a channel: at once, or together with the next notifications.

        The caller does not wait, and a notification that can't be delivered is lost. Its listeners
        then have lost their own connection too, or poll.
        """
        if not self._unreported and self._notifying is None:
            # In a separate turn of the loop: a caller waits for an answer.
            asyncio.get_running_loop().call_soon(self._start_notifying)
        self._unreported[channel, payload] = None

    def _start_notifying(self) -> None:
        if self._unreported and self._notifying is None:
            self._notifying = asyncio.get_running_loop().create_task(self._notify(), name="notices")

    async def _notify(self) -> None:
        try:
            while self._unreported:
                unreported, self._unreported = self._unreported, {}
                channels, payloads = zip(*unreported, strict=True)
                values = {"channels": list(channels), "payloads": list(payloads)}
                with contextlib.suppress(OperationalError):
                    await self.fetch(_NOTIFY, values)
                await asyncio.sleep(NOTIFY_INTERVAL_S)
        finally:
            self._notifying = None

    def close(self) -> None:
        """Close the connections; waiting statements fail, and waiting notifications are lost."""
        if self._notifying is not None:
            self._notifying.cancel()
            self._notifying = None
        for lane in self._lanes:
            lane.close("the pipeline was closed")
        self._lanes.clear()

    def _free_lane(self) -> "_Lane | None":
        """Return the lane with the fewest open statements, unless one more lane would be better."""
        self._lanes = [lane for lane in self._lanes if lane.is_open]
        best = min(self._lanes, key=_Lane.count, default=None)
        if best is None or not best.count() or len(self._lanes) >= LANE_COUNT_MAX:
            return best
        # No caller waits for a new connection if another connection is open.
        return best if self._opening.locked() else None

    async def _open_lane(self) -> "_Lane":
        async with self._opening:
            lane = min(self._lanes, key=_Lane.count, default=None)
            is_enough = lane is not None and (
                not lane.count() or len(self._lanes) >= LANE_COUNT_MAX
            )
            # Another caller has opened it while this one waited for the lock.
            if lane is not None and lane.is_open and is_enough:
                return lane
            try:
                lane = await self._connect()
            except psycopg.Error as error:
                raise _failure(error) from error
            self._lanes.append(lane)
            return lane

    async def _connect(self) -> "_Lane":
        return _Lane(await connect(self._url, application_name="regent-pipeline"))


class _Lane:
    """One connection, and the callers that wait for its answers, in order."""

    def __init__(self, connection: psycopg.AsyncConnection) -> None:
        # Kept although only its inner object is used: its finalizer closes the socket.
        self._connection, self._libpq = connection, connection.pgconn
        self._libpq.nonblocking = 1
        self._libpq.enter_pipeline_mode()
        self._socket = self._libpq.socket
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[asyncio.Future[pq.abc.PGresult]] = deque()
        self._answer: pq.abc.PGresult | None = None
        self._prepared: set[bytes] = set()
        self._is_retired = self._is_closed = False
        self._look: asyncio.TimerHandle | None = None
        self._loop.add_reader(self._socket, self._read)

    @property
    def is_open(self) -> bool:
        return not (self._is_retired or self._is_closed)

    def count(self) -> int:
        return len(self._waiting)

    async def fetch(
        self,
        statement: Statement,
        values: list[bytes | None],
        meanwhile: Callable[[], None] | None,
    ) -> list[Row]:
        """Send a statement and wait for its answer."""
        if len(self._waiting) >= IN_FLIGHT_MAX:
            raise _failure(psycopg.OperationalError("too many statements wait for Postgres"))
        try:
            answering = self._send(statement, values)
            self._flush()
        except psycopg.Error as error:
            self.close(str(error))
            raise _failure(error) from error
        try:
            if meanwhile is not None:
                meanwhile()
            answer = await answering
        except asyncio.CancelledError:
            # A caller that gives up has waited for too long: no other may wait behind this
            # statement.
            self._retire()
            raise
        return [
            [_text(answer.get_value(row, column)) for column in range(answer.nfields)]
            for row in range(answer.ntuples)
        ]

    def _send(
        self, statement: Statement, values: list[bytes | None]
    ) -> asyncio.Future[pq.abc.PGresult]:
        if statement.is_replanned:
            self._libpq.send_query_params(statement.sql, values)
        else:
            if statement.name not in self._prepared:
                # It is answered before the statement itself, and both fail together.
                self._libpq.send_prepare(statement.name, statement.sql)
                self._prepared.add(statement.name)
            self._libpq.send_query_prepared(statement.name, values)
        self._libpq.pipeline_sync()
        future: asyncio.Future[pq.abc.PGresult] = self._loop.create_future()
        self._waiting.append(future)
        if self._look is None:
            self._look = self._loop.call_later(LOOK_INTERVAL_S, self._look_again)
        return future

    def _flush(self) -> None:
        if self._libpq.flush():
            self._loop.add_writer(self._socket, self._flush_rest)

    def _flush_rest(self) -> None:
        try:
            if not self._libpq.flush():
                self._loop.remove_writer(self._socket)
        except psycopg.Error as error:
            self.close(str(error))

    def _look_again(self) -> None:
        self._look = None
        self._read()
        if self._waiting:
            self._look = self._loop.call_later(LOOK_INTERVAL_S, self._look_again)

    def _read(self) -> None:
        try:
            self._libpq.consume_input()
            while self._waiting and not self._libpq.is_busy():
                self._take(self._libpq.get_result())
        except psycopg.Error as error:
            self.close(str(error))
            return
        if self._is_retired and not self._waiting:
            self.close("it was retired")

    def _take(self, result: pq.abc.PGresult | None) -> None:
        """Keep an answer, or the first error, until the end of its statement."""
        if result is None:
            return
        if result.status != pq.ExecStatus.PIPELINE_SYNC:
            if self._answer is None or self._answer.status == pq.ExecStatus.COMMAND_OK:
                self._answer = result
            return
        future, answer = self._waiting.popleft(), self._answer
        self._answer = None
        if answer is not None and answer.status in _SUCCESSES:
            if not future.done():
                future.set_result(answer)
            return
        # For example, a migration made a plan invalid: the prepared statements are not reliable.
        self._is_retired = True
        error = psycopg.OperationalError("Postgres answered nothing")
        _fail(future, error if answer is None else psycopg.errors.error_from_result(answer))

    def _retire(self) -> None:
        """Accept no more statements, and close after the answers of the open ones."""
        self._is_retired = True
        if not self._waiting:
            self.close("it was retired")

    def close(self, reason: str) -> None:
        """Close at once; closing twice is no error."""
        if self._is_closed:
            return
        self._detach()
        self._libpq.finish()
        for future in self._waiting:
            _fail(future, psycopg.OperationalError(reason))
        self._waiting.clear()

    def _detach(self) -> None:
        """Use the connection no more."""
        self._is_closed = True
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        if self._look is not None:
            self._look.cancel()


_pipelines: WeakKeyDictionary[Engine, Pipeline] = WeakKeyDictionary()
_patient_pipelines: WeakKeyDictionary[Engine, Pipeline] = WeakKeyDictionary()


def pipeline_of(database: Database, *, is_patient: bool = False) -> Pipeline:
    """Find the pipeline of a pool; it is closed when the pool is disposed of.

    Statements that take long or wait for locks use a second, patient pipeline, so that no election
    waits behind them.
    """
    engine = database.sync_engine
    pipelines = _patient_pipelines if is_patient else _pipelines
    found = pipelines.get(engine)
    if found is None:
        found = pipelines[engine] = Pipeline(engine.url)
        closing = found

        def close(_engine: Engine) -> None:
            closing.close()

        event.listen(engine, "engine_disposed", close)
    return found


async def run(
    runner: Pipeline | Connection,
    statement: Statement,
    values: Values,
    *,
    meanwhile: Callable[[], None] | None = None,
) -> list[Row]:
    """Execute a statement in its own transaction, or within a larger transaction."""
    if isinstance(runner, Pipeline):
        return await runner.fetch(statement, values, meanwhile=meanwhile)
    if meanwhile is not None:
        meanwhile()
    return [tuple(row) for row in await runner.execute(statement.text, dict(values))]


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


def _fail(future: asyncio.Future[pq.abc.PGresult], error: psycopg.Error) -> None:
    if not future.done():
        future.set_exception(_failure(error))
        # The caller may have gone; then the error is not read.
        future.exception()


def _failure(error: psycopg.Error) -> OperationalError:
    # Parameters are not logged: they may be addresses of brokers, or their identity codes.
    return OperationalError(STATEMENT_HIDDEN, None, error, hide_parameters=True)
