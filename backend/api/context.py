"""Hold what every route and resolver works with, built once by the process."""

from dataclasses import dataclass
from typing import Annotated, Protocol, cast

from fastapi import Depends
from redis.asyncio import Redis
from starlette.requests import HTTPConnection

from backend.api.attempts import AttemptLimiter
from backend.api.feeds import Feed
from backend.clients.clock import Clock
from backend.clients.task_queue import TaskQueue
from backend.db.engine import Database
from backend.domain.controller_figures import ControllerFigures
from backend.domain.errors import Forbidden, Unauthenticated
from backend.domain.name_server import NameServerStatus
from backend.domain.operation import Author
from backend.domain.route import TopicRoute, TopologyChange
from backend.domain.session import Session
from backend.services.event_feed import EventFeed
from backend.services.group_changes import Controller
from backend.services.log_histories import HistorySource
from backend.services.operations.kind import OperationContext
from backend.services.replica_lags import PositionSource
from backend.services.samples import ObservedSample
from backend.services.sessions import PasswordVerifier
from backend.settings import ServerSettings


class NameServerView(Protocol):
    """Look into the name server of this process; the doors know each other by this alone."""

    @property
    def controller(self) -> Controller:
        """Return what use cases of the controller work with, what this process hears included."""
        ...

    def describe(self) -> NameServerStatus:
        """Say where the server listens and how much it holds."""
        ...

    def describe_controller(self) -> ControllerFigures:
        """Say what the controller has counted since its start, and whom it hears."""
        ...

    def find_route(self, topic_name: str) -> TopicRoute | None:
        """Find what clients are answered for a topic."""
        ...


class BrokerSource(HistorySource, PositionSource, Protocol):
    """Ask brokers for what only they know."""


@dataclass(frozen=True, slots=True)
class ApiContext:
    """Hold the connections and collaborators of the HTTP door."""

    settings: ServerSettings
    database: Database
    redis: Redis
    clock: Clock
    task_queue: TaskQueue
    name_server: NameServerView
    brokers: BrokerSource
    verifier: PasswordVerifier
    attempts: AttemptLimiter
    samples: Feed[ObservedSample]
    topology: Feed[TopologyChange]
    events: EventFeed

    @property
    def operations(self) -> OperationContext:
        """Return what operations are planned with in this process."""
        return OperationContext(
            self.database,
            self.clock,
            self.task_queue,
            self.name_server.controller,
            process_name="server",
        )


def get_context(connection: HTTPConnection) -> ApiContext:
    """Return the context of the application that answers a connection."""
    return cast("ApiContext", connection.app.state.context)


def get_session(connection: HTTPConnection) -> Session:
    """Return who is signed in; the gate has let nobody else through.

    Raises:
        Unauthenticated: a route was reached past the gate.
    """
    session = getattr(connection.state, "session", None)
    if session is None:
        raise Unauthenticated
    return cast("Session", session)


def require_change(session: Session) -> Session:
    """Return a session that may change something.

    Raises:
        Forbidden: its user may only look.
    """
    if not session.may_change:
        raise Forbidden(f"the role {session.role} may only read")
    return session


def author_of(session: Session, connection: HTTPConnection, door: str) -> Author:
    """Say in the audit who asks for a change, through which door and from where.

    Raises:
        Forbidden: the user may only look.
    """
    peer = "unknown" if connection.client is None else connection.client.host
    return Author(require_change(session).user_name, f"{door} {peer}")


Context = Annotated[ApiContext, Depends(get_context)]
SignedIn = Annotated[Session, Depends(get_session)]
