"""What the command line prints and ends with, over answers of the documented form."""

import io
import json
import stat

import httpx
import pytest

from backend.cli.app import run
from backend.cli.context_file import context_path
from tests.unit.cli.fake_server import SERVER, SESSION, refusal

REPORT_ID = "8d0c1f1e-6a53-4a0e-9f0e-0b6f0a4c9d11"


def report(**values) -> dict:
    disk = {
        "kind": "disk",
        "cluster_name": "east",
        "broker_name": "broker-a",
        "name": "broker-a-2",
        "broker_id": 2,
        "topic_name": None,
        "day": None,
        "bytes": None,
        "disk_total_bytes": 100 * 2**30,
        "disk_free_bytes": 50 * 2**30,
        "bytes_per_day": None,
        "days_until_full": None,
        "note": "too little history: 0.1 days, at least 1 needed",
    }
    day = {
        **dict.fromkeys(disk),
        "kind": "topic_day",
        "cluster_name": "east",
        "broker_name": "broker-a",
        "name": "broker-a-2",
        "broker_id": 2,
        "topic_name": "orders",
        "day": "2026-03-01",
        "bytes": 2**60,
    }
    return {
        "id": REPORT_ID,
        "status": "done",
        "requested_at": "2026-03-02T12:00:00Z",
        "started_at": "2026-03-02T12:00:01Z",
        "finished_at": "2026-03-02T12:00:09Z",
        "requested_by": "admin",
        "parameters": {},
        "coverage": {
            "from": "2026-03-01T00:00:00+00:00",
            "to": "2026-03-02T12:00:00+00:00",
            "sample_count": 1200,
            "broker_count": 2,
            "gap_count": 1,
            "gap_seconds": 7200,
            "rows_left_out": 0,
        },
        "error": None,
        "rows": [disk, day],
        **values,
    }


@pytest.mark.usefixtures("local_cluster")
def test_a_local_cluster_is_found_and_signed_in_to(server, capsys):
    server.on("GET", "/clusters", {"items": [{"name": "east"}], "next": None})
    brokers = [
        {
            "name": "broker-a-1",
            "broker_group_name": "broker-a",
            "role": "master",
            "state": "online",
            "address": "127.0.0.1:10911",
            "last_heartbeat_at": None,
            "protection": None,
        }
    ]
    server.on("GET", "/clusters/east/brokers", {"items": brokers, "next": None})

    code = run(["broker", "list"])

    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    heads = "NAME BROKER GROUP ROLE STATE ADDRESS PROTECTED LAST HEARTBEAT"
    assert lines[0].split() == heads.split()
    assert lines[1].split()[:4] == ["broker-a-1", "broker-a", "master", "online"]
    assert lines[1].split()[4:] == ["127.0.0.1:10911", "no", "-"]
    assert json.loads(server.requests[0].content) == {"name": "admin", "password": "the secret"}
    assert [request.method for request in server.requests] == ["POST", "GET", "GET"]
    assert server.requests[1].headers["Authorization"] == "Bearer t0"


def test_options_come_before_the_environment_and_that_before_the_saved_login(
    signed_in, monkeypatch, capsys
):
    signed_in.on("GET", "/session", SESSION)
    monkeypatch.setenv("REGENT_URL", "http://from-environment:1")
    monkeypatch.setenv("REGENT_TOKEN", "from-environment")

    run(["whoami", "--server", "http://from-option:2", "--token", "from-option"])
    run(["whoami"])
    monkeypatch.delenv("REGENT_URL")
    monkeypatch.delenv("REGENT_TOKEN")
    run(["whoami"])

    asked = [(r.url.host, r.headers["Authorization"]) for r in signed_in.requests]
    assert asked == [
        ("from-option", "Bearer from-option"),
        ("from-environment", "Bearer from-environment"),
        ("regent.test", "Bearer saved-token"),
    ]
    assert "admin (admin) at http://regent.test:8080" in capsys.readouterr().out


@pytest.mark.usefixtures("server")
def test_without_any_server_the_error_says_how_to_name_one(capsys):
    code = run(["cluster", "list"])

    assert code == 2
    assert capsys.readouterr().err == (
        "error: no cluster to speak to\n"
        "  why:  no --server, REGENT_URL, --context or REGENT_CONTEXT names one, "
        "no context is in use, and .regent holds no local cluster\n"
        "  next: regent up, or regent login --server URL\n"
    )


@pytest.mark.usefixtures("server")
def test_a_directory_without_a_cluster_is_an_error_with_the_command_that_starts_one(
    tmp_path, capsys
):
    code = run(["cluster", "list", "--data", str(tmp_path)])

    assert code == 2
    assert capsys.readouterr().err == (
        f"error: no local cluster runs in {tmp_path}\n  next: regent up --data {tmp_path}\n"
    )


def test_a_server_that_is_down_is_an_error_with_the_place_of_its_address(
    local_cluster, server, capsys
):
    server.on("POST", "/session", httpx.ConnectError("Connection refused"))

    code = run(["cluster", "list"])

    assert code == 1
    assert capsys.readouterr().err == (
        f"error: cannot reach the control plane at {SERVER}\n"
        "  why:  Connection refused (the address is from .regent/cluster.json)\n"
        f"  next: regent up --data {local_cluster.name}\n"
    )


@pytest.mark.parametrize(
    ("answer", "code", "reported"),
    [
        (
            refusal(401, "unauthenticated", "sign in first"),
            5,
            "error: sign in first\n  next: regent login --context saved\n",
        ),
        (
            refusal(404, "cluster_not_found", "no cluster 'east'"),
            4,
            "error: no cluster 'east'\n  next: regent cluster list\n",
        ),
        (
            refusal(
                422, "invalid_input", "wrong form", [{"at": ["query", "limit"], "reason": "no"}]
            ),
            2,
            "error: wrong form\n  why:  query.limit: no\n",
        ),
        (
            httpx.Response(502, text="bad gateway"),
            1,
            (
                f"error: {SERVER} answered 502 Bad Gateway\n"
                "  next: try again, then look into the control plane's log\n"
            ),
        ),
        (
            httpx.Response(200, text="<html>", headers={"content-type": "text/html"}),
            1,
            (
                f"error: {SERVER} is not a Regent control plane\n  why:  its answer is text/html\n"
                "  next: check --server and REGENT_URL, or the context: regent context show\n"
            ),
        ),
    ],
)
def test_refusals_have_their_words_and_exit_codes(signed_in, capsys, answer, code, reported):
    signed_in.on("GET", "/clusters/east", answer)

    assert run(["cluster", "get", "east"]) == code
    assert capsys.readouterr().err == reported


def test_a_login_is_kept_in_a_file_that_only_its_owner_reads(server, monkeypatch, capsys):
    server.on("POST", "/session", {**SESSION, "token": "fresh"})
    server.on("GET", "/session", SESSION)
    monkeypatch.setattr("sys.stdin", io.StringIO("pass word\n"))

    code = run(["login", "--server", SERVER, "--password-stdin"])
    again = run(["whoami"])

    assert (code, again) == (0, 0)
    assert stat.S_IMODE(context_path().stat().st_mode) == 0o600
    assert json.loads(server.requests[0].content)["password"] == "pass word"
    assert server.requests[1].headers["Authorization"] == "Bearer fresh"
    assert "fresh" not in capsys.readouterr().out


def test_logging_out_forgets_the_token_even_when_the_session_is_over(signed_in, capsys):
    signed_in.on("DELETE", "/session", refusal(401, "unauthenticated", "sign in first"))

    code = run(["logout"])

    assert code == 0
    assert "saved-token" not in context_path().read_text()
    assert capsys.readouterr().out == f"signed out of {SERVER}\n"


def test_a_report_is_asked_for_awaited_and_shown(signed_in, capsys):
    signed_in.on("POST", "/capacity/reports", httpx.Response(202, json={"id": REPORT_ID}))
    path = f"/capacity/reports/{REPORT_ID}"
    signed_in.on("GET", path, report(status="planned"), report(status="running"), report())

    code = run(["capacity", "report"])

    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert lines[0] == f"Report {REPORT_ID}: done"
    assert "From 1,200 samples of 2 brokers, 2026-03-01 00:00:00Z" in lines[1]
    assert lines[2] == "Missing: 1 gaps, 2.0 hours in all brokers together"
    [disk] = [line for line in lines if "too little history" in line]
    assert disk.split()[:8] == ["east", "broker-a-2", "100.0", "GiB", "50.0", "GiB", "-", "-"]
    [day] = [line for line in lines if line.startswith("2026-03-01")]
    assert day.split() == ["2026-03-01", "east", "broker-a-2", "orders", "1024.0", "PiB"]


def test_numbers_beyond_a_double_are_strings_in_json(signed_in, capsys):
    signed_in.on("GET", f"/capacity/reports/{REPORT_ID}", report())

    run(["capacity", "get", REPORT_ID, "-o", "json"])

    rows = json.loads(capsys.readouterr().out)["rows"]
    assert rows[1]["bytes"] == str(2**60)
    assert rows[0]["disk_total_bytes"] == 100 * 2**30


def test_a_failed_report_says_why_and_ends_with_1(signed_in, capsys):
    failed = report(status="failed", error="Java is not installed", coverage=None, rows=[])
    signed_in.on("GET", f"/capacity/reports/{REPORT_ID}", failed)

    code = run(["capacity", "get", REPORT_ID])

    assert code == 1
    assert "why:  Java is not installed" in capsys.readouterr().err


def test_a_report_that_takes_too_long_goes_on_and_ends_with_8(signed_in, capsys):
    signed_in.on("POST", "/capacity/reports", {"id": REPORT_ID})
    signed_in.on("GET", f"/capacity/reports/{REPORT_ID}", report(status="planned"))

    code = run(["capacity", "report", "--timeout", "0.01"])

    reported = capsys.readouterr().err
    assert code == 8
    assert "why:  a report needs a worker: `regent run worker`" in reported
    assert f"next: regent capacity get {REPORT_ID}" in reported


def test_an_interrupted_wait_names_the_report_and_ends_with_130(signed_in, capsys):
    signed_in.on("POST", "/capacity/reports", {"id": REPORT_ID})
    signed_in.on("GET", f"/capacity/reports/{REPORT_ID}", KeyboardInterrupt())

    code = run(["capacity", "report"])

    assert code == 130
    assert f"regent capacity get {REPORT_ID}" in capsys.readouterr().err


def test_a_report_without_history_says_when_to_try_again(signed_in, capsys):
    empty = report(coverage={"sample_count": 0, "gap_count": 0}, rows=[])
    signed_in.on("GET", f"/capacity/reports/{REPORT_ID}", empty)

    run(["capacity", "get", REPORT_ID])

    assert "No history yet" in capsys.readouterr().out


def test_among_several_clusters_one_must_be_named(signed_in, capsys):
    clusters = [{"name": "east"}, {"name": "west"}]
    signed_in.on("GET", "/clusters", {"items": clusters, "next": None})

    code = run(["topic", "list"])

    assert code == 2
    assert capsys.readouterr().err == (
        "error: which cluster?\n  why:  there are several: east, west\n  next: add --cluster east\n"
    )


def test_lists_follow_their_pages_up_to_the_limit(signed_in, capsys):
    path = "/clusters/east/topics"
    first = {
        "items": [{"name": f"t{n}", "kind": "normal", "protection": None} for n in range(200)],
        "next": "c1",
    }
    second = {
        "items": [{"name": f"u{n}", "kind": "normal", "protection": None} for n in range(50)],
        "next": "c2",
    }
    signed_in.on("GET", path, first, second)

    run(["topic", "list", "--cluster", "east", "--limit", "250", "-o", "json"])

    asked = [dict(request.url.params) for request in signed_in.requests]
    assert len(json.loads(capsys.readouterr().out)) == 250
    assert asked == [{"limit": "200"}, {"limit": "50", "after": "c1"}]


def test_names_are_quoted_in_paths_and_harmless_on_the_terminal(signed_in, capsys):
    hostile = {"name": "\x1b[31mred [bold]", "kind": "retry", "protection": None}
    signed_in.on("GET", "/clusters/a%7Cb/topics", {"items": [hostile], "next": None})

    run(["topics", "list", "--cluster", "a|b"])

    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert r"\x1b[31mred [bold]" in out


@pytest.mark.parametrize(
    "arguments", [["clster"], ["topic", "get"], ["capacity", "get", "no-uuid"], ["topic", "-o"]]
)
@pytest.mark.usefixtures("server")
def test_a_misspelt_command_ends_with_2(arguments):
    assert run(arguments) == 2


@pytest.mark.parametrize("command", ["up", "login", "whoami", "capacity report", "topic get"])
def test_every_command_shows_examples(command, capsys):
    assert run([*command.split(), "--help"]) == 0
    assert f"regent {command}" in capsys.readouterr().out.split("Examples:")[1]
