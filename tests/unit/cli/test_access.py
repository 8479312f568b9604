"""The commands of users, sessions and tokens, over answers of the documented form."""

import io
import json

import httpx
import pytest

from backend.cli.app import run
from tests.unit.cli.fake_server import SERVER, SESSION, refusal

AT = "2026-03-02T12:00:00Z"
USER = {
    "name": "anna",
    "role": "operator",
    "cluster_patterns": ["staging-*", "test"],
    "created_at": AT,
    "disabled_at": None,
    "password_expires_at": None,
}
TOKEN = {
    "id": "0f8e4c1a-3b52-4a7e-8d11-6f0a2c9b7e54",
    "user_name": "anna",
    "name": "ci",
    "prefix": "rgt_abcdefgh",
    "role": "operator",
    "cluster_patterns": ["staging-*"],
    "is_read_only": True,
    "created_at": AT,
    "expires_at": AT,
    "last_used_at": None,
    "last_used_from": None,
}
OPEN = {
    "id": TOKEN["id"],
    "user_name": "anna",
    "source": "10.0.0.7",
    "user_agent": "Firefox",
    "created_at": AT,
    "last_used_at": AT,
    "expires_at": AT,
    "is_own": True,
}


def page(*items):
    return {"items": list(items), "next": None, "total_count": len(items)}


def sent(server):
    return json.loads(server.requests[-1].content)


@pytest.mark.usefixtures("signed_in")
def test_a_new_token_is_all_that_standard_output_holds(server, capsys):
    server.on("POST", "/tokens", {**TOKEN, "secret": "rgt_abcdefghijkl"})

    code = run(
        [
            "token",
            "create",
            "ci",
            "--days",
            "30",
            "--role",
            "operator",
            "--cluster",
            "a*",
            "--cluster",
            "b",
            "--read-only",
        ]
    )

    output = capsys.readouterr()
    assert (code, output.out) == (0, "rgt_abcdefghijkl\n")
    assert "shown this once" in output.err
    assert sent(server) == {
        "name": "ci",
        "role": "operator",
        "lifetime_days": 30,
        "cluster_patterns": ["a*", "b"],
        "is_read_only": True,
    }


@pytest.mark.usefixtures("signed_in")
def test_a_token_must_expire(server):
    assert run(["token", "create", "ci"]) == 2
    assert run(["token", "create", "ci", "--days", "0"]) == 2
    assert server.requests == []


@pytest.mark.usefixtures("signed_in")
def test_lists_show_who_from_where_and_until_when(server, capsys):
    server.on("GET", "/tokens", page(TOKEN))
    server.on("GET", "/sessions", page(OPEN))
    server.on("GET", "/users", page(USER, {**USER, "name": "bela", "disabled_at": AT}))

    codes = [run([noun, "list"]) for noun in ("token", "session", "user")]

    output = capsys.readouterr().out
    assert codes == [0, 0, 0]
    for reported in ("rgt_abcdefgh…", "operator, read-only", "staging-*", "10.0.0.7", "(this one)"):
        assert reported in output
    assert "disabled since 2026-03-02 12:00:00Z" in output


@pytest.mark.usefixtures("signed_in")
def test_disabling_a_user_takes_their_name(server, capsys):
    server.on("POST", "/users/anna/disable", {**USER, "disabled_at": AT})

    without = run(["user", "disable", "anna"])
    wrong = run(["user", "disable", "anna", "--confirm", "bela"])
    assert server.requests == []
    right = run(["user", "disable", "anna", "--confirm", "anna", "--reason", "left"])

    assert (without, wrong, right) == (3, 3, 0)
    assert sent(server) == {"reason": "left"}
    assert "--confirm anna" in capsys.readouterr().err


@pytest.mark.usefixtures("signed_in")
def test_a_role_is_given_for_some_clusters_and_kept_for_them(server, capsys):
    server.on("POST", "/users", {**USER, "password_expires_at": AT, "password": "once"})
    server.on("PUT", "/users/anna/role", USER)
    server.on("GET", "/session", {**SESSION, "cluster_limits": [["staging-*", "test"], ["t*"]]})
    patterns = ["--cluster", "staging-*", "--cluster", "test"]
    asked = []

    for words in (
        ["add", "anna", "--role", "operator", *patterns],
        ["role", "anna", "operator", *patterns, "--confirm", "anna"],
        ["role", "anna", "operator", "--confirm", "anna"],
    ):
        assert run(["user", *words]) == 0
        asked.append(sent(server)["cluster_patterns"])
    assert run(["whoami"]) == 0

    output = capsys.readouterr()
    assert asked == [["staging-*", "test"], ["staging-*", "test"], None]
    assert "(operator of clusters staging-*, test)" in output.err
    assert "anna is operator of clusters staging-*, test, enabled" in output.out
    assert output.out.endswith("only clusters staging-*, test\nonly clusters t*\n")


@pytest.mark.usefixtures("signed_in")
def test_the_last_administrator_is_a_refusal(server, capsys):
    reported = "'anna' is the last administrator who can sign in; add one first"
    server.on("PUT", "/users/anna/role", refusal(409, "last_administrator", reported))

    assert run(["user", "role", "anna", "viewer", "--confirm", "anna"]) == 3
    assert reported in capsys.readouterr().err


@pytest.mark.usefixtures("signed_in")
def test_one_session_or_all_are_ended(server, capsys):
    server.on("DELETE", f"/sessions/{OPEN['id']}", httpx.Response(204))
    server.on("DELETE", "/sessions", {"ended_count": 3})

    neither = run(["session", "end"])
    both = run(["session", "end", OPEN["id"], "--everywhere"])
    one = run(["session", "end", OPEN["id"]])
    own = run(["session", "end", "--everywhere"])
    anothers = run(["session", "end", "--everywhere", "--user", "anna"])

    assert (neither, both, one, own, anothers) == (2, 2, 0, 0, 3)
    assert [request.method for request in server.requests] == ["DELETE", "DELETE"]
    assert "sessions ended: 3" in capsys.readouterr().out


def test_a_token_of_the_environment_is_what_is_sent(server, monkeypatch, capsys):
    monkeypatch.setenv("REGENT_URL", SERVER)
    monkeypatch.setenv("REGENT_TOKEN", "rgt_x")
    server.on("GET", "/session", {**SESSION, "credential": "token"})

    assert run(["whoami"]) == 0
    assert [request.headers["authorization"] for request in server.requests] == ["Bearer rgt_x"]
    assert "by a token" in capsys.readouterr().out


@pytest.mark.usefixtures("signed_in")
def test_a_password_comes_from_two_lines(server, monkeypatch, capsys):
    server.on("PUT", "/session/password", {"ended_count": 1})
    monkeypatch.setattr("sys.stdin", io.StringIO("old one\nnew one, longer\n"))

    assert run(["user", "password", "--stdin"]) == 0
    assert sent(server) == {"old_password": "old one", "new_password": "new one, longer"}
    assert "new one" not in capsys.readouterr().out
