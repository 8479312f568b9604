"""Send prepared statements of many callers over few connections, one behind another.

What a controller does for one request is one statement, and a transaction of its own. SQLAlchemy
and psycopg's cursors take several times the processor time that such a statement is worth (R11:
two milliseconds against 0.05), and one connection of a pool for each that waits. So this module
alone speaks to libpq: in its pipeline mode a statement does not wait for the answers of those
before it, each is committed by itself, and the socket is always read, so that a server that went
away is noticed without a ping. All other SQL goes through SQLAlchemy.

Notices go apart from what they tell of. A commit that notifies waits for all others that do
(Postgres holds one lock over the flush), so that a thousand elections could not share flushes; and
each notice wakes a server process and a task for every listener there is.
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

# So many commits can share a flush of Postgres's log; each is a connection that stays open.
LANE_COUNT_MAX: Final = 8
IN_FLIGHT_MAX: Final = 1_000
LOOK_INTERVAL_S: Final = 0.2
"""How often a socket is read unasked while answers are due: uvloop stops to watch one with an error
(a reset by a server that crashed) and tells nobody."""

_SUCCESSES: Final = frozenset({pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK})
_PARAMETER: Final = re.compile(r"(?<![:\w]):(\w+)")
TELL_INTERVAL_S: Final = 0.02
"""What is to be told within this time after something was told goes out together."""

Row = Sequence[Any]
Values = Mapping[str, Any]


class Statement:
    """Hold SQL with parameters written as `:name`, for a pipeline and for SQLAlchemy.

    A pipeline sends values as text, so SQL casts each where Postgres could not tell its type.
    """

    def __init__(self, name: str, sql: str, *, is_planned_anew: bool = False) -> None:
        """Prepare the SQL; a statement over many rows is planned anew for those it is given.

        Postgres would soon keep a plan that was made for a few, and take seconds with hundreds.
        """
        self.name = name.encode()
        self.is_planned_anew = is_planned_anew
        self.names = tuple(dict.fromkeys(_PARAMETER.findall(sql)))
        self.text = text(sql)
        numbers = {parameter: i for i, parameter in enumerate(self.names, start=1)}
        self.sql = _PARAMETER.sub(lambda found: f"${numbers[found[1]]}", sql).encode()

    def encode(self, values: Values) -> list[bytes | None]:
        """Spell the values as Postgres reads them.

        Raises:
            DataError: a text holds a NUL, which would end it there.
            TypeError: nothing of that type is ever sent.
        """
        return [SPELLINGS[type(value)](value) for value in map(values.__getitem__, self.names)]


# A change that a notification announces is on the disk already. Another wait for the disk would
# delay other commits.
_TELL: Final = Statement(
    "tell",
    """
SELECT pg_notify(told.channel, told.payload)
  FROM unnest(CAST(:channels AS text[]), CAST(:payloads AS text[])) AS told (channel, payload),
       set_config('synchronous_commit', 'off', true)
""",
)


class Pipeline:
    """Carry statements to one database, in the order of their coming where they share a lane."""

    def __init__(self, database_url: URL) -> None:
        self._url = database_url
        self._lanes: list[_Lane] = []
        self._opening = asyncio.Lock()
        # By channel and payload, in the order of their coming, each once.
        self._unreported: dict[tuple[str, str], None] = {}
        self._telling: asyncio.Task[None] | None = None

    async def fetch(
        self, statement: Statement, values: Values, *, meanwhile: Callable[[], None] | None = None
    ) -> list[Row]:
        """Carry out a statement as a transaction of its own; each value comes as text, or None.

        What is to be done with the answer can be prepared `meanwhile`, on its way to Postgres. Who
        is cancelled while waiting knows nothing: the statement may be committed all the same.

        Raises:
            OperationalError: Postgres refuses, or does not answer; if the connection was lost
                meanwhile, the statement may be committed all the same.
        """
        encoded = statement.encode(values)
        lane = self._free_lane() or await self._open_lane()
        return await lane.fetch(statement, encoded, meanwhile)

    def tell(self, channel: str, payload: str = "") -> None:
        """Have those told who listen on a channel: at once, or with what else is to be told soon.

        Nobody waits for it, and a notice that can't be delivered is lost: who listens has lost its
        own connection too then, or looks by itself.
        """
        if not self._unreported and self._telling is None:
            # In a turn of its own: somebody waits for an answer.
            asyncio.get_running_loop().call_soon(self._begin_to_tell)
        self._unreported[channel, payload] = None

    def _begin_to_tell(self) -> None:
        if self._unreported and self._telling is None:
            self._telling = asyncio.get_running_loop().create_task(self._tell(), name="notices")

    async def _tell(self) -> None:
        try:
            while self._unreported:
                unreported, self._unreported = self._unreported, {}
                channels, payloads = zip(*unreported, strict=True)
                values = {"channels": list(channels), "payloads": list(payloads)}
                with contextlib.suppress(OperationalError):
                    await self.fetch(_TELL, values)
                await asyncio.sleep(TELL_INTERVAL_S)
        finally:
            self._telling = None

    def close(self) -> None:
        """Close the connections; what waits for an answer fails, and to be told is lost."""
        if self._telling is not None:
            self._telling.cancel()
            self._telling = None
        for lane in self._lanes:
            lane.close("the pipeline was closed")
        self._lanes.clear()

    def _free_lane(self) -> "_Lane | None":
        """Find the lane with the fewest on their way, unless one more lane would be better."""
        self._lanes = [lane for lane in self._lanes if lane.is_open]
        best = min(self._lanes, key=_Lane.count, default=None)
        if best is None or not best.count() or len(self._lanes) >= LANE_COUNT_MAX:
            return best
        # Nobody waits for a connection who can go over another.
        return best if self._opening.locked() else None

    async def _open_lane(self) -> "_Lane":
        async with self._opening:
            lane = min(self._lanes, key=_Lane.count, default=None)
            is_enough = lane is not None and (
                not lane.count() or len(self._lanes) >= LANE_COUNT_MAX
            )
            # Another has opened it while this one waited for its turn.
            if lane is not None and lane.is_open and is_enough:
                return lane
            try:
                lane = _Lane(await connect(self._url, application_name="regent-pipeline"))
            except psycopg.Error as error:
                raise _failure(error) from error
            self._lanes.append(lane)
            return lane


class _Lane:
    """One connection and who waits for its answers, in order."""

    def __init__(self, connection: psycopg.AsyncConnection) -> None:
        # Kept although only its inside is used: it closes the socket when nobody holds it.
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
            # Whoever gives up has waited for too long: nobody else shall wait behind this.
            self._retire()
            raise
        return [
            [_text(answer.get_value(row, column)) for column in range(answer.nfields)]
            for row in range(answer.ntuples)
        ]

    def _send(
        self, statement: Statement, values: list[bytes | None]
    ) -> asyncio.Future[pq.abc.PGresult]:
        if statement.is_planned_anew:
            self._libpq.send_query_params(statement.sql, values)
        else:
            if statement.name not in self._prepared:
                # Answered before the statement itself, and both fail together.
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
        """Keep an answer, the first where one has failed, until the end of its statement."""
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
        # Such as a plan that a migration made void: what was prepared here is not to be trusted.
        self._is_retired = True
        error = psycopg.OperationalError("Postgres answered nothing")
        _fail(future, error if answer is None else psycopg.errors.error_from_result(answer))

    def _retire(self) -> None:
        """Take no more, and close when those on their way are answered."""
        self._is_retired = True
        if not self._waiting:
            self.close("it was retired")

    def close(self, reason: str) -> None:
        """Close at once; closing twice is no error."""
        if self._is_closed:
            return
        self._is_closed = True
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)
        if self._look is not None:
            self._look.cancel()
        self._libpq.finish()
        for future in self._waiting:
            _fail(future, psycopg.OperationalError(reason))
        self._waiting.clear()


_pipelines: WeakKeyDictionary[Engine, Pipeline] = WeakKeyDictionary()
_patient_pipelines: WeakKeyDictionary[Engine, Pipeline] = WeakKeyDictionary()


def pipeline_of(database: Database, *, is_patient: bool = False) -> Pipeline:
    """Find the pipeline beside a pool; it is closed when the pool is disposed of.

    What takes long, or waits for locks, has a patient one: nobody's election shall wait behind it.
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
    """Carry out a statement by itself, or within a transaction that does more."""
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
        # Who waited may have gone; then nobody looks at the error.
        future.exception()


def _failure(error: psycopg.Error) -> OperationalError:
    # Parameters are not logged: they can be addresses of brokers and proofs of who they are.
    return OperationalError(STATEMENT_HIDDEN, None, error, hide_parameters=True)
