"""Hold the dependencies of routes and resolvers, built once by the process."""

from dataclasses import dataclass
from typing import Annotated, Protocol, cast

from fastapi import Depends
from redis.asyncio import Redis
from starlette.requests import HTTPConnection

from backend.api.attempts import AttemptLimiter
from backend.api.feeds import Feed
from backend.brokers.asking import Brokers
from backend.clients.clock import Clock
from backend.clients.task_queue import TaskQueue
from backend.db.engine import Database
from backend.domain.access import Credential, Permission, Principal, find_risk_max, require
from backend.domain.cluster_scope import ClusterScope
from backend.domain.controller_figures import ControllerFigures
from backend.domain.errors import Unauthenticated
from backend.domain.name_server import NameServerStatus
from backend.domain.operation import Author
from backend.domain.route import TopicRoute, TopologyChange
from backend.operations.engine.kind import OperationContext
from backend.services.access.passwords import PasswordVerifier
from backend.services.cluster.health import Listener
from backend.services.consumer_group.client_snapshots import ClientSnapshots
from backend.services.controller.group_changes import Controller
from backend.services.samples import ObservedSample
from backend.services.upkeep.event_feed import EventFeed
from backend.settings import ServerSettings


class NameServerView(Protocol):
    """Give access to the name server of this process; the doors share only this protocol."""

    @property
    def controller(self) -> Controller:
        """Return the controller of this process, with its received heartbeats."""
        ...

    @property
    def listened_ms(self) -> int:
        """Return for how long this process has received heartbeats of replicas without a break."""
        ...

    def describe(self) -> NameServerStatus:
        """Describe the address of the server and the size of its tables."""
        ...

    def describe_controller(self) -> ControllerFigures:
        """Describe the figures of the controller since its start, and its replicas."""
        ...

    def find_route(self, topic_name: str) -> TopicRoute | None:
        """Find the route that clients receive for a topic."""
        ...


@dataclass(frozen=True, slots=True)
class ApiContext:
    """Hold the connections and services of the HTTP door."""

    settings: ServerSettings
    database: Database
    redis: Redis
    clock: Clock
    task_queue: TaskQueue
    name_server: NameServerView
    brokers: Brokers
    client_snapshots: ClientSnapshots
    verifier: PasswordVerifier
    attempts: AttemptLimiter
    samples: Feed[ObservedSample]
    topology: Feed[TopologyChange]
    events: EventFeed

    @property
    def operations(self) -> OperationContext:
        """Return the dependencies of operations in this process."""
        return OperationContext(
            self.database,
            self.clock,
            self.task_queue,
            self.name_server.controller,
            process_name="server",
            second_person=self.settings.second_person,
        )


async def get_context(connection: HTTPConnection) -> ApiContext:
    """Return the context of the application that answers a connection."""
    return cast("ApiContext", connection.app.state.context)


def listener_of(context: ApiContext) -> Listener:
    """Return the listener for replicas in this process."""
    server = context.name_server
    return Listener(server.controller.heartbeat_source, server.listened_ms)


async def get_principal(connection: HTTPConnection) -> Principal:
    """Return the caller; the gate has refused all requests without a credential.

    Raises:
        Unauthenticated: the request has not passed the gate.
    """
    principal = getattr(connection.state, "principal", None)
    if principal is None:
        raise Unauthenticated
    return cast("Principal", principal)


async def get_scope(principal: Annotated[Principal, Depends(get_principal)]) -> ClusterScope:
    """Return the clusters within reach of the caller."""
    return principal.clusters


def require_change(principal: Principal) -> Principal:
    """Return the caller if the caller may make changes.

    Raises:
        Forbidden: the caller may only read.
    """
    require(principal, Permission.CHANGE)
    return principal


def author_of(principal: Principal, connection: HTTPConnection, door: str) -> Author:
    """Return the author of a change for the audit, with door, address and credential.

    Raises:
        Forbidden: the caller may only read.
    """
    return name_author(require_change(principal), connection, door)


def name_author(principal: Principal, connection: HTTPConnection, door: str) -> Author:
    """Return the author of an action that every user may do, for the audit."""
    source = f"{door} {peer_of(connection)}"
    if principal.credential is Credential.TOKEN:
        source += f" token {principal.credential_name}"
    return Author(principal.user_name, source, find_risk_max(principal), principal.clusters)


def peer_of(connection: HTTPConnection) -> str:
    """Return the address of the peer."""
    return "unknown" if connection.client is None else connection.client.host


Context = Annotated[ApiContext, Depends(get_context)]
SignedIn = Annotated[Principal, Depends(get_principal)]
Within = Annotated[ClusterScope, Depends(get_scope)]
