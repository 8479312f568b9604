"""The session that the commands of a local cluster keep beside its password."""

import io
import json
import stat

import httpx
import pytest

from backend.cli import local_session
from backend.cli.app import run
from tests.unit.cli.fake_server import SESSION, refusal
from tests.unit.cli.test_events import page, stream

OVER = refusal(401, "unauthenticated", "sign in first")


@pytest.fixture
def kept(local_cluster):
    return local_cluster / "cli-session"


@pytest.fixture
def passwords(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("the secret\nanother, longer\n"))


def asked(server):
    return [(one.method, one.headers.get("Authorization")) for one in server.requests]


def test_the_next_command_uses_the_session_which_its_owner_alone_may_read(server, kept):
    server.on("GET", "/session", SESSION)

    codes = [run(["whoami"]), run(["whoami"])]

    assert codes == [0, 0]
    assert asked(server) == [("POST", None), ("GET", "Bearer t0"), ("GET", "Bearer t0")]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.usefixtures("passwords")
def test_a_session_that_is_over_is_followed_by_another_and_the_request_repeated(server, kept):
    kept.write_text("old\n")
    server.on("PUT", "/session/password", OVER, {"ended_count": 0})

    code = run(["user", "password", "--stdin"])

    assert code == 0
    assert asked(server) == [("PUT", "Bearer old"), ("POST", None), ("PUT", "Bearer t0")]
    assert kept.read_text() == "t0\n"
    assert server.requests[0].content == server.requests[2].content != b""


@pytest.mark.usefixtures("passwords")
def test_a_password_that_is_refused_in_an_open_session_is_not_tried_twice(server, kept, capsys):
    kept.write_text("open\n")
    server.on("PUT", "/session/password", refusal(401, "invalid_credentials", "wrong password"))

    code = run(["user", "password", "--stdin"])

    assert (code, asked(server)) == (5, [("PUT", "Bearer open")])
    assert "wrong password" in capsys.readouterr().err


def test_a_password_of_the_directory_that_no_longer_holds_is_an_error(server, kept, capsys):
    kept.write_text("old\n")
    server.on("GET", "/session", OVER)
    server.on("POST", "/session", refusal(401, "invalid_credentials", "wrong name or password"))

    code = run(["whoami"])

    assert (code, asked(server)) == (5, [("GET", "Bearer old"), ("POST", None)])
    assert "error: wrong name or password" in capsys.readouterr().err


def test_a_session_that_cannot_be_kept_ends_with_its_command(server, kept, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(local_session, "write_private", full)
    server.on("GET", "/session", SESSION)

    code = run(["whoami"])

    assert (code, kept.exists()) == (0, False)
    assert asked(server) == [("POST", None), ("GET", "Bearer t0"), ("DELETE", "Bearer t0")]


def test_what_is_followed_goes_on_in_another_session(server, kept, capsys):
    kept.write_text("old\n")
    no_more = refusal(409, "events_expired", "event 8 is too old")
    ended = stream(7, end="unauthenticated")
    server.on("GET", "/events", page(newest=6), ended, OVER, stream(8), no_more)

    code = run(["events", "--follow", "-o", "json"])

    out, err = capsys.readouterr()
    assert code == 3
    assert [json.loads(line)["number"] for line in out.splitlines()] == [7, 8]
    assert "resuming" in err
    assert [method for method, _ in asked(server)].count("POST") == 1


def test_signing_out_of_a_local_cluster_ends_the_session_that_is_kept(server, kept, capsys):
    kept.write_text("open\n")

    codes = [run(["logout"]), run(["logout"])]

    assert codes == [0, 5]
    assert asked(server) == [("DELETE", "Bearer open")]
    assert not kept.exists()
    reported = capsys.readouterr().err
    assert "not signed in" in reported
    assert "regent login --data .regent" in reported


def test_to_sign_out_of_a_session_that_is_over_opens_no_other(server, kept):
    kept.write_text("old\n")
    server.on("DELETE", "/session", OVER)

    code = run(["logout"])

    assert (code, asked(server)) == (0, [("DELETE", "Bearer old")])
    assert not kept.exists()


def test_no_cookie_goes_beside_the_token(server, kept):
    cookie = {"Set-Cookie": "regent_session=t0; Path=/; HttpOnly"}
    opened = httpx.Response(200, json={**SESSION, "token": "t0"}, headers=cookie)
    server.on("POST", "/session", opened)
    server.on("GET", "/clusters", {"items": [{"name": "east"}], "next": None})
    server.on("GET", "/clusters/east/brokers", {"items": [], "next": None})

    code = run(["broker", "list"])

    assert code == 0
    assert len(server.requests) == 3
    assert not [one for one in server.requests if "Cookie" in one.headers]
    assert kept.exists()
