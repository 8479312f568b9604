"""A server that answers requests from a table, and a user who is signed in to it."""

import json

import httpx
import pytest

from backend.cli import capacity, event_stream, rest
from backend.cli.context_file import Context, change_contexts
from tests.unit.cli.fake_server import SERVER, SESSION, FakeServer


@pytest.fixture
def server(monkeypatch, tmp_path):
    fake, client_type = FakeServer(), httpx.Client

    def client(**options):
        return client_type(**{**options, "transport": httpx.MockTransport(fake)})

    monkeypatch.setattr(rest.httpx, "Client", client)
    monkeypatch.setattr(capacity, "POLL_INTERVAL_S", 0)
    monkeypatch.setattr(event_stream, "RETRY_DELAY_S", 0)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    for name in ("REGENT_URL", "REGENT_CONTEXT", "REGENT_TOKEN", "REGENT_CLUSTER", "REGENT_OUTPUT"):
        monkeypatch.delenv(name, raising=False)
    return fake


@pytest.fixture
def local_cluster(server, tmp_path):
    """Lay out what `regent up` leaves for its own command line."""
    directory = tmp_path / ".regent"
    directory.mkdir()
    (directory / "cluster.json").write_text(json.dumps({"http": {"url": SERVER}}))
    (directory / "bootstrap-secret").write_text("the secret\n")
    server.on("POST", "/session", {**SESSION, "token": "t0"})
    server.on("DELETE", "/session", httpx.Response(204))
    return directory


@pytest.fixture
def signed_in(server):
    with change_contexts() as contexts:
        contexts.put(Context("saved", SERVER, "saved-token"))
        contexts.current = "saved"
    return server
