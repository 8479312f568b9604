"""The whole process: it starts, says what is wrong in one line, and stops cleanly."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from http import HTTPStatus
from http.client import HTTPConnection

import httpx
import pytest

from backend import server
from backend.settings import ServerSettings
from tests.forking import SERVER, forking_process
from tests.integration.api.event_clients import SocketClient, SseClient, new_event, write
from tests.open_files import FEW, few_open_files, open_file_limits
from tests.ports import free_port
from tests.waiting import PATIENCE_S


@pytest.fixture
def environment(database_url, redis_url, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("let me in\n")
    return {
        **os.environ,
        "REGENT_DATABASE_URL": database_url,
        "REGENT_REDIS_URL": redis_url,
        "REGENT_HTTP_PORT": str(free_port()),
        "REGENT_REMOTING_PORT": str(free_port()),
        "REGENT_BOOTSTRAP_SECRET_FILE": str(secret),
        # Who waits for it stops too late for a test.
        "REGENT_SHUTDOWN_DEADLINE_MS": str(int(10_000 * PATIENCE_S)),
    }


@pytest.fixture
def log_path(tmp_path):
    return tmp_path / "server.log"


@pytest.fixture
def start(environment, log_path):
    """Start a server as a fork of a process that has its imports."""

    def fork():
        return forking_process(SERVER).fork([], log_path=log_path, environment=environment)

    return fork


@pytest.fixture
def run(start, log_path):
    """Start a server that can't start; give its exit code and what it wrote."""

    def end():
        code = start().wait(PATIENCE_S)
        return code, log_path.read_text()

    return end


def execute(environment, log_path):
    """Start a server as a supervisor does."""
    command = [sys.executable, "-m", "backend.server"]
    with log_path.open("wb") as log:
        return subprocess.Popen(command, env=environment, stderr=log)


async def test_a_server_starts_lets_the_administrator_in_and_stops_on_sigterm(
    environment, log_path, eventually
):
    with few_open_files():
        process = execute(environment, log_path)
    base_url = f"http://127.0.0.1:{environment['REGENT_HTTP_PORT']}"
    try:
        async with httpx.AsyncClient(base_url=base_url, timeout=PATIENCE_S, verify=False) as client:

            async def is_ready():
                assert process.poll() is None, log_path.read_text()
                try:
                    return (await client.get("/readyz")).status_code == 200
                except httpx.TransportError:
                    return False

            await eventually(is_ready)
            allowed, most = open_file_limits(process.pid)
            assert allowed == most > FEW
            body = {"name": "admin", "password": "let me in"}
            signed_in = await client.post("/api/v1/session", json=body)
            _, writer = await asyncio.open_connection(
                "127.0.0.1", int(environment["REGENT_REMOTING_PORT"])
            )
    finally:
        process.send_signal(signal.SIGTERM)
        code = await asyncio.to_thread(process.wait, PATIENCE_S)

    writer.close()
    assert signed_in.status_code == 200
    assert code == 0


async def test_no_broker_can_connect_while_the_event_loop_is_blocked_at_the_start(
    environment, monkeypatch
):
    # A pause after the first broker connected would hide its death for a lease (R10).
    port = int(environment["REGENT_REMOTING_PORT"])

    class Looked(Exception):
        pass

    def look(_context):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        raise Looked

    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(server, "create_app", look)

    with pytest.raises(Looked):
        await server.run(ServerSettings())


async def test_a_connection_that_was_idle_for_six_seconds_still_carries_a_request(
    environment, start, eventually
):
    # Clients keep one for five: the client must close first.
    process = start()
    connection = HTTPConnection("127.0.0.1", int(environment["REGENT_HTTP_PORT"]))

    def ask():
        connection.request("GET", "/healthz")
        with connection.getresponse() as response:
            response.read()
            return response.status

    async def is_ready():
        try:
            return await asyncio.to_thread(ask) == HTTPStatus.OK
        except OSError:
            connection.close()
            return False

    try:
        await eventually(is_ready)
        first = connection.sock
        await asyncio.sleep(6)
        first.getpeername()
        status = await asyncio.to_thread(ask)
    finally:
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.wait, PATIENCE_S)

    assert status == HTTPStatus.OK
    assert connection.sock is first


async def test_subscribers_resume_over_a_restart_without_loss_or_repetition(
    environment, start, database, eventually
):
    async def ready(process):
        url = f"http://127.0.0.1:{environment['REGENT_HTTP_PORT']}/readyz"

        async def answers():
            assert process.poll() is None
            with contextlib.suppress(httpx.TransportError):
                async with httpx.AsyncClient(timeout=PATIENCE_S, verify=False) as client:
                    return (await client.get(url)).status_code == 200

        await eventually(answers)

    async def stop(process, number):
        process.send_signal(number)
        await asyncio.to_thread(process.wait, PATIENCE_S)

    async def keep_following(subscriber):
        while True:
            await subscriber.follow()
            await asyncio.sleep(0.05)

    process = start()
    try:
        await ready(process)
        port = int(environment["REGENT_HTTP_PORT"])
        async with httpx.AsyncClient(timeout=PATIENCE_S, verify=False) as client:
            body = {"name": "admin", "password": "let me in"}
            url = f"http://127.0.0.1:{port}/api/v1/session?token=true"
            token = (await client.post(url, json=body)).json()["token"]
        subscribers = [SseClient(port, token, after=0), SocketClient(port, token, after=0)]
        following = [asyncio.create_task(keep_following(one)) for one in subscribers]
        for count, number in ((10, signal.SIGTERM), (20, signal.SIGKILL)):
            await write(database, *[new_event() for _ in range(5)])
            await eventually(lambda n=count - 5: all(len(s.events) == n for s in subscribers))
            await stop(process, number)
            await write(database, *[new_event() for _ in range(5)])
            process = start()
            await ready(process)
            await eventually(lambda n=count: all(len(s.events) >= n for s in subscribers))
            assert not any(task.done() for task in following)
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)
    finally:
        await stop(process, signal.SIGTERM)

    for subscriber in subscribers:
        assert [event["number"] for event in subscriber.events] == list(range(1, 21))


@pytest.mark.parametrize("setting", ["REGENT_HTTP_PORT", "REGENT_REMOTING_PORT"])
def test_a_port_in_use_is_one_line_and_code_2(environment, run, setting):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        environment[setting] = str(taken.getsockname()[1])

        code, errors = run()

    told = [line for line in errors.splitlines() if "in use" in line]
    assert (code, len(told)) == (2, 1)
    assert environment[setting] in told[0]


def test_a_missing_setting_is_named_and_code_2(environment, run):
    del environment["REGENT_REDIS_URL"]

    code, errors = run()

    assert code == 2
    assert "REGENT_REDIS_URL" in errors
    assert len(errors.strip().splitlines()) == 1


def test_a_database_without_tables_is_one_line(environment, run, empty_database_url):
    environment["REGENT_DATABASE_URL"] = empty_database_url

    code, errors = run()

    assert code == 1
    assert "python -m migrations" in errors.strip().splitlines()[-1]
    assert "Traceback" not in errors


def test_a_bootstrap_secret_that_is_no_text_ends_the_start_with_a_clear_line(run, tmp_path):
    (tmp_path / "secret").write_bytes(b"\xff\xfe\x00")

    code, errors = run()

    assert code == 2
    assert errors.splitlines()[-1] == (
        f"regent server: cannot read the bootstrap secret: {tmp_path}/secret is no UTF-8 text"
    )
