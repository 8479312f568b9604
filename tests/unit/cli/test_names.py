"""A name reaches the control plane as it was given, or no request is made."""

import re
from pathlib import Path

import httpx
import pytest

from backend import cli
from backend.cli.app import run
from backend.cli.rest import segment

ROOT = Path(cli.__file__).parent
# Not of a user: ids that the control plane gave, and words of the program.
OWN = {"report_id", "operation['id']", "planned['id']", "verb"}


@pytest.mark.parametrize("name", [".", "..", "", "\udcff"])
@pytest.mark.parametrize(
    "words",
    [
        # Cases B7 and B8.
        ("session", "end"),
        ("token", "revoke"),
        ("user", "get"),
        ("topic", "get", "--cluster", "main"),
        ("group", "get", "--cluster", "main"),
        ("client", "get", "--cluster", "main"),
        ("message", "get", "--cluster", "main"),
        ("operation", "get"),
        ("cluster", "get"),
        ("broker", "status", "--cluster", "main"),
    ],
)
@pytest.mark.usefixtures("signed_in")
def test_a_name_that_an_address_would_swallow_is_refused_before_a_request(
    server, capsys, words, name
):
    code = run([*words[:2], name, *words[2:]])

    assert code == 2
    assert [one.url.path for one in server.requests if "sessions" in one.url.path] == []
    assert server.requests == []
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["a/b", "%2F", "a b", "?x=1", "#", "..a", "a%", "é", "...", "a/.."]
)
@pytest.mark.usefixtures("signed_in")
def test_any_other_name_arrives_as_it_is(server, name):
    # Cases B7 to B9.
    server.on("GET", f"/users/{name}", httpx.Response(404))

    run(["user", "get", name])

    (request,) = server.requests
    assert request.url.raw_path.decode() == f"/api/v1/users/{segment(name)}"
    assert request.url.path == f"/api/v1/users/{name}"


def test_every_path_of_the_command_line_is_built_of_segments():
    # Case B7: the one function that puts a name into a path.
    bare = {
        (path.name, part)
        for path in ROOT.rglob("*.py")
        for text in re.findall(r'f"/[^"]*"', path.read_text())
        for part in re.findall(r"\{([^}]*)\}", text)
        if not part.startswith("segment(") and part not in OWN
    }

    assert bare == set()
