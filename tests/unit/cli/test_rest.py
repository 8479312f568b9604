"""The connection of a command to a server."""

import httpx
import pytest

from backend.cli.rest import RestClient
from backend.cli.target import Target


@pytest.mark.parametrize(
    ("server", "is_checked"),
    [("https://queues.example", True), ("http://127.0.0.1:8080", False)],
)
def test_the_certificate_of_an_https_server_is_checked(server, is_checked, monkeypatch):
    checked = []

    class Client(httpx.Client):
        def __init__(self, *, verify: bool, **options: object) -> None:
            checked.append(verify)
            super().__init__(verify=verify, **options)

    monkeypatch.setattr(httpx, "Client", Client)

    with RestClient(Target(server, origin="--server")):
        pass

    assert checked == [is_checked]
