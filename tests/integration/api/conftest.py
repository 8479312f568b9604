"""The HTTP door as it is served, with real stores and a hand-made name server beside it."""

import asyncio
import contextlib
import socket
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from http.cookiejar import DefaultCookiePolicy
from uuid import UUID

import httpx
import pytest
import uvicorn
from argon2 import PasswordHasher
from fastapi import FastAPI
from sqlalchemy import update

from backend.api import app as api_app
from backend.api.app import create_app
from backend.api.attempts import AttemptLimiter
from backend.api.context import ApiContext
from backend.api.feeds import Feed
from backend.brokers.asking import Brokers
from backend.brokers.errors import BrokerUnreachable
from backend.brokers.requests.properties import GetProperties
from backend.brokers.requests.replication import GetLogHistory, GetLogPosition
from backend.clients.clock import SystemClock
from backend.db.access_tables import users
from backend.db.brokers import BrokerRegistration
from backend.domain.broker import DataVersion
from backend.domain.controller_figures import ControllerFigures, RequestTally
from backend.domain.election import ReplicaReport
from backend.domain.name_server import NameServerStatus
from backend.domain.topic import QueueSettings
from backend.operations.engine.engine import run_operation
from backend.services.access import passwords
from backend.services.access.passwords import PasswordVerifier
from backend.services.access.sessions import Visit, sign_in
from backend.services.access.users import ensure_bootstrap_user
from backend.services.cluster import topology
from backend.services.consumer_group.client_snapshots import ClientSnapshots
from backend.services.controller.registrations import RegisterBroker, register_broker
from backend.services.samples import ObservedQueue, ObservedSample, ObservedTopic, observe
from backend.services.samples.observed import CHANNEL, LATEST_KEY, encode_sample
from backend.services.upkeep.event_feed import EventFeed
from backend.settings import ServerSettings
from tests.integration.api.access import make_credentials
from tests.integration.api.ordering import GROUP, OPS
from tests.integration.services.controller_driver import ControllerDriver

PASSWORD = "correct horse"
ORIGIN = "http://test"


class HandTaskQueue:
    """Remembers what was sent."""

    def __init__(self):
        self.sent = []

    async def send(self, task_name, *arguments):
        self.sent.append((task_name, *arguments))


class HandNameServer:
    """Answers what a test put into it."""

    def __init__(self, controller):
        self.controller = controller
        self.listened_ms = 3_600_000
        self.routes = {}
        self.status = NameServerStatus(
            address="127.0.0.1:9876",
            started_at=datetime(2026, 1, 1, tzinfo=UTC),
            route_version=7,
            topic_count=3,
            broker_count=2,
            connection_count=4,
            answer_counts={("GET_ROUTEINFO_BY_TOPIC", 0): 5},
        )

    def describe(self):
        return self.status

    def describe_controller(self):
        return ControllerFigures(RequestTally(), self.controller.elections, {})

    def find_route(self, topic_name):
        return self.routes.get(topic_name)


@pytest.fixture
def driver(database, brokers):
    """Give the brokers of the group g in the cluster c, as the controller hears them."""
    return ControllerDriver(database, brokers=brokers)


class HandBrokers(Brokers):
    """Answers the epochs and positions that a test put into it, and reaches no other broker."""

    def __init__(self):
        self.histories, self.positions, self.properties_reported = {}, {}, {}

    async def ask(self, address, inquiry):
        told = {
            GetLogHistory: self.histories,
            GetProperties: self.properties_reported,
            GetLogPosition: self.positions,
        }.get(type(inquiry), {})
        if address not in told:
            raise BrokerUnreachable(address, "nobody listens")
        return told[address]


@pytest.fixture
def brokers():
    return HandBrokers()


@pytest.fixture
def name_server(driver):
    return HandNameServer(driver.controller)


@pytest.fixture
def console_dir(tmp_path):
    root = tmp_path / "console"
    (root / "assets").mkdir(parents=True)
    (root / "index.html").write_text("<!doctype html><title>Regent</title>")
    (root / "assets" / "app-1a2b.js").write_text("export {}")
    (root / "favicon.svg").write_text("<svg/>")
    (tmp_path / "secret").write_text("outside")
    (root / "link").symlink_to(tmp_path / "secret")
    return root


@pytest.fixture
def context(database, database_url, redis, redis_url, name_server, brokers, console_dir):
    return ApiContext(
        settings=ServerSettings(
            database_url=database_url,
            redis_url=redis_url,
            console_dir=console_dir,
            allowed_origins=("https://console.example",),
        ),
        database=database,
        redis=redis,
        clock=SystemClock(),
        task_queue=HandTaskQueue(),
        name_server=name_server,
        brokers=brokers,
        # What a test has just changed is to be seen at once.
        client_snapshots=ClientSnapshots(
            database, brokers, SystemClock(), kept_for_s=0, patience_s=60
        ),
        verifier=PasswordVerifier(),
        attempts=AttemptLimiter(time.monotonic),
        samples=Feed("samples", lambda: observe(redis)),
        topology=Feed("topology", lambda: topology.watch(redis)),
        events=EventFeed(database),
    )


@pytest.fixture
async def bootstrap_user(context, monkeypatch):
    # The real cost of a password is seconds on a busy machine, for each test.
    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(passwords, "_hasher", cheap)
    await ensure_bootstrap_user(PASSWORD, database=context.database, clock=context.clock)


@pytest.fixture(scope="session")
def routes_made_once():
    """Make what is the same in every application once: it takes a second of the processor.

    Whose application it is, a route learns from the request.
    """
    first = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    api_app._add_routes(first)
    return lambda app: app.router.routes.extend(first.routes)


@pytest.fixture
async def app(context, bootstrap_user, routes_made_once, monkeypatch):  # noqa: ARG001 - only its effect is wanted
    monkeypatch.setattr(api_app, "_add_routes", routes_made_once)
    app = create_app(context)
    async with app.router.lifespan_context(app):
        yield app


@pytest.fixture
async def stranger(app):
    """A client that has not signed in."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as client:
        yield client


@pytest.fixture
async def token(context, bootstrap_user):  # noqa: ARG001 - only its effect is wanted
    opened = await sign_in(
        user_name="admin",
        password=PASSWORD,
        visit=Visit(timedelta(hours=1)),
        verifier=context.verifier,
        database=context.database,
        clock=context.clock,
    )
    return opened.token


@pytest.fixture
async def client(app, token):
    """A client that has signed in."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=transport, base_url=ORIGIN, headers=headers) as client:
        yield client


@pytest.fixture
def carry_out(context):
    """Carry out what was sent to the workers, as one of them."""

    async def work():
        sent, context.task_queue.sent = context.task_queue.sent, []
        for _task_name, operation_id in sent:
            await run_operation(UUID(operation_id), context.operations)

    return work


@pytest.fixture
def ask(client):
    """Ask the graph; give the data, or the whole answer when errors are wanted."""

    async def ask_graph(query, *, errors=False, **variables):
        body = {"query": query, "variables": variables}
        answer = (await client.post("/graphql", json=body)).json()
        if errors:
            return answer
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    return ask_graph


@pytest.fixture
def demote(database):
    """Make the user who signed in one who may only look."""

    async def demote_user():
        async with database.begin() as connection:
            await connection.execute(update(users).values(role="viewer"))

    return demote_user


@pytest.fixture
def register(database):
    """Write brokers as the name server would."""

    async def register_in_cluster(
        cluster="main", group="broker-a", broker_id=0, topics=(), address=None, attributes=()
    ):
        address = address or f"{group}-{broker_id}.{cluster}:10911"
        settings = {name: QueueSettings(4, 4, 6, attributes=attributes) for name in topics}
        registration = BrokerRegistration(broker_id, address, None, 10_000, DataVersion())
        command = RegisterBroker(cluster, group, registration, topics=settings)
        await register_broker(command, database=database, clock=SystemClock())
        return address

    return register_in_cluster


@pytest.fixture
async def served(app):
    """Serve the application on a separate port; give the port."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = _Server(uvicorn.Config(app, lifespan="off", log_config=None))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    yield listener.getsockname()[1]
    server.should_exit = True
    await task


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self):
        yield


@pytest.fixture
def sample(redis, context):
    """Store and publish a sample of the master, as the collecting task does."""

    async def publish(*, cluster="main", topic=None, max_offset=0, rate=None):
        queue = ObservedQueue(0, 0, max_offset)
        topics = () if topic is None else (ObservedTopic(topic, 0, 0, (queue,), rate, rate),)
        now_ms = context.clock.now_ms()
        observed = ObservedSample(
            cluster_name=cluster,
            broker_name="broker-a",
            broker_id=0,
            observed_at_ms=now_ms,
            reported_at_ms=now_ms,
            booted_at_ms=0,
            messages_in=0,
            bytes_in=0,
            messages_out=0,
            bytes_out=0,
            commit_log_min_position=0,
            commit_log_max_position=0,
            flushed_position=0,
            store_bytes=0,
            disk_total_bytes=100,
            disk_free_bytes=50,
            resident_bytes=0,
            cpu_seconds=0.0,
            topics=topics,
            messages_in_per_second=rate,
        )
        await redis.hset(LATEST_KEY, observed.field, encode_sample(observed))
        await redis.publish(CHANNEL, encode_sample(observed))

    return publish


@pytest.fixture
async def f3(driver):
    """Three replicas of one epoch, 1 the master, all in sync; 3 has fallen silent."""
    await driver.make_f3()
    driver.heartbeat_source.heard = {
        1: ReplicaReport(0, 10_000, epoch=1, max_offset=900),
        2: ReplicaReport(0, 10_000, epoch=1, max_offset=880),
        3: ReplicaReport(20_000, 10_000),
    }


@pytest.fixture
def follow(driver):
    """Have the replicas set_epoch another epoch, as they do once they have followed."""

    def set_epoch(epoch):
        driver.heartbeat_source.heard = {
            i: ReplicaReport(0, 10_000, epoch=epoch, max_offset=900) for i in (1, 2)
        }

    return set_epoch


@pytest.fixture
def plan(client):
    async def ask(kind, status=201, key=None, **parameters):
        headers = {"Idempotency-Key": key} if key else {}
        body = {"kind": kind, "parameters": {**GROUP, **parameters}}
        answer = await client.post(OPS, json=body, headers=headers)
        assert answer.status_code == status, answer.text
        return answer.json()

    return ask


@pytest.fixture
def act(client):
    async def ask(operation, verb, body=None, status=200, key=None):
        headers = {"Idempotency-Key": key} if key else {}
        path = f"{OPS}/{operation['id']}/{verb}"
        answer = await client.post(path, json=body, headers=headers)
        assert answer.status_code == status, answer.text
        return answer.json()

    return ask


@pytest.fixture
async def bare_client(app):
    """A client that comes with what each request brings, and keeps no cookie."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as client:
        client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        yield client


@pytest.fixture
def credentials(context, bootstrap_user):  # noqa: ARG001 - only its effect is wanted
    """Give the headers of a kind of caller in a role, whose user is made when there is none."""
    return partial(make_credentials, context)
