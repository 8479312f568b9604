"""How an operation is followed from the command line, and planned from its parameters alone."""

import io
import json

import httpx
import pytest

from backend.cli.app import run
from tests.unit.cli.fake_server import event_stream, refusal
from tests.unit.cli.test_orders import DONE, ID, PATH, operation, sent, step


@pytest.fixture
def east(signed_in):
    signed_in.on("POST", "/operations", operation())
    signed_in.on("GET", PATH, operation("running", steps=[step(state="running")]), DONE)
    return signed_in


def events(*ids, after=7):
    """A stream with events of operations, by id, and ends."""
    reported = [
        {"number": number, "kind": "step.done", "operation_id": one}
        for number, one in enumerate(ids, start=after + 1)
    ]
    lines = [f"id: {one['number']}\ndata: {json.dumps(one)}\n\n" for one in reported]
    return event_stream("".join(lines))


def reads(server):
    return sum(one.method == "GET" and one.url.path.endswith(ID) for one in server.requests)


def test_an_operation_is_read_again_when_an_event_names_it_and_not_before(east, capsys):
    running = operation("running", steps=[step(state="running")])
    east.on("GET", PATH, running, running, DONE)
    east.on(
        "GET",
        "/events",
        httpx.Response(200, json={"items": [], "newest_number": 7}),
        events("another", "another"),
        httpx.ConnectError("refused"),
        httpx.ConnectError("refused"),
        events(ID, "another", ID, after=9),
    )

    assert run(["operation", "watch", ID]) == 0

    # As it was, once more behind the beginning of the stream, then at its two events.
    assert reads(east) == 3
    streams = [dict(r.url.params) for r in east.requests if "text/event-stream" in str(r.headers)]
    assert [one["after"] for one in streams] == ["7", "9", "9", "9"]
    assert streams[0]["cluster"] == "east"
    assert capsys.readouterr().err.count("connection lost") == 1


def test_a_user_who_can_no_longer_follow_learns_that_the_operation_goes_on(east, capsys):
    east.on("GET", "/events", refusal(503, "unavailable", "try again"))

    assert run(["operation", "watch", ID]) == 1

    assert f"operation {ID} goes on: regent operation watch {ID}" in capsys.readouterr().err


def test_any_kind_is_planned_from_its_parameters(east, capsys, monkeypatch):
    parameters = {"cluster_name": "east", "broker_group_name": "broker-a"}
    command = ["operation", "plan", "elect_master"]
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(parameters)))

    assert run([*command, json.dumps(parameters), "--dry-run"]) == 0
    assert run([*command, "-", "--dry-run"]) == 0
    assert run([*command, "{", "--dry-run"]) == 2
    assert run([*command, "[1]", "--dry-run"]) == 2

    wanted = ("/operations", {"kind": "elect_master", "parameters": parameters})
    assert sent(east) == [wanted, wanted]
    assert "are no JSON object" in capsys.readouterr().err


def test_a_plan_is_looked_at_as_json_without_being_confirmed(signed_in, capsys):
    signed_in.on("GET", PATH, operation())

    assert run(["operation", "confirm", ID, "--dry-run", "-o", "json"]) == 0

    assert json.loads(capsys.readouterr().out)["id"] == ID
    assert sent(signed_in) == []


@pytest.mark.parametrize("verb", ["approve", "decline"])
def test_a_second_person_decides_with_a_reason(signed_in, capsys, verb):
    signed_in.on("POST", f"{PATH}/{verb}", operation("queued"))

    assert run(["operation", verb, ID, "--reason", "seen with anna"]) == 0

    assert sent(signed_in) == [(f"{PATH}/{verb}", {"reason": "seen with anna"})]
    assert "is queued" in capsys.readouterr().out


def test_what_awaits_an_approval_ends_with_8_and_says_who_goes_on(signed_in, capsys):
    signed_in.on("GET", PATH, operation())
    signed_in.on("POST", f"{PATH}/confirm", operation("awaiting_approval"))

    assert run(["operation", "confirm", ID, "--yes", "--reason", "planned work"]) == 8

    reported = capsys.readouterr()
    assert "awaits the approval of another user" in reported.out
    assert f"regent operation approve {ID}" in reported.err
