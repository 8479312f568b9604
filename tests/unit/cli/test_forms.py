"""What commands print, as it was looked at: tables for people, JSON and YAML for programs."""

import json

import pytest
import yaml

from backend.cli.app import run
from backend.cli.errors import ExitCode
from backend.cli.orders import EXIT_CODES
from backend.domain.operation import OperationState
from tests.unit.cli.fake_server import refusal

FINDING = {
    "id": 4,
    "code": "two_masters",
    "severity": "critical",
    "title": "Two brokers of a group act as master",
    "cluster_name": "east",
    "subject": "broker-a",
    "sentence": None,
    "evidence": {"elected_id": 1, "registered_address": "10.0.0.9:10911"},
    "advice": "Stop the other.",
    "since": "2026-03-02T12:00:00Z",
    "opened_at": "2026-03-02T12:00:02Z",
    "closed_at": None,
}
TASK = {
    "name": "findings.scan",
    "interval_ms": 2000,
    "began_at": "2026-03-02T12:00:00Z",
    "ended_at": "2026-03-02T12:00:01Z",
    "is_overdue": False,
    "outcome": {"opened_count": 0},
}
EXPIRY = {
    "subject": "audit",
    "kept_hours": 26280,
    "cutoff": "2023-03-03T12:00:00Z",
    "expired_count": 2**60,
}
TABLES = {
    "finding list": """\
SEVERITY  FINDING      CLUSTER  ON        SINCE                 UNTIL  EVIDENCE
critical  two_masters  east     broker-a  2026-03-02 12:00:00Z  now    elected_id=1, registered_\
address=10.0.0.9:10911

two_masters: Two brokers of a group act as master
  next: Stop the other.
""",
    "maintenance list": """\
TASK           EVERY  BEGAN                 ENDED                 STANDS   OUTCOME
findings.scan  2 s    2026-03-02 12:00:00Z  2026-03-02 12:00:01Z  in time  opened_count=0
""",
    "maintenance retention": """\
WHAT   KEPT FOR   GOES IF OLDER THAN               WOULD GO
audit  1095 days  2023-03-03 12:00:00Z  1152921504606846976
""",
}
DATA = {
    "finding list": [FINDING],
    "maintenance list": [TASK],
    "maintenance retention": [{**EXPIRY, "expired_count": str(2**60)}],
}


@pytest.fixture
def reported(signed_in):
    signed_in.on("GET", "/findings", {"items": [FINDING], "next": None, "total_count": 1})
    signed_in.on("GET", "/maintenance/tasks", [TASK])
    signed_in.on("GET", "/maintenance/retention", [EXPIRY])
    return signed_in


@pytest.mark.parametrize("command", TABLES)
@pytest.mark.usefixtures("reported")
def test_people_read_a_table(capsys, command):
    assert run(command.split()) == 0

    printed = "".join(f"{line.rstrip()}\n" for line in capsys.readouterr().out.splitlines())
    assert printed == TABLES[command]


@pytest.mark.parametrize("command", DATA)
@pytest.mark.usefixtures("reported")
def test_programs_read_the_same_as_json_and_as_yaml(capsys, command):
    run([*command.split(), "-o", "json"])
    as_json = json.loads(capsys.readouterr().out)
    run([*command.split(), "--output", "yaml"])
    as_yaml = yaml.safe_load(text := capsys.readouterr().out)
    run([*command.split(), "-o", "json"])
    again = json.loads(capsys.readouterr().out)

    assert as_json == as_yaml == again == DATA[command]
    assert not text.startswith(("[", "{"))


@pytest.mark.parametrize(
    ("options", "words", "asked"),
    [([], "no finding is open\n", {"is_open": "true"}), (["--all"], "there is no finding\n", {})],
)
def test_no_finding_is_not_said_to_be_all_well(reported, capsys, options, words, asked):
    reported.on("GET", "/findings", {"items": [], "next": None, "total_count": 0})

    run(["finding", "list", *options])

    printed = capsys.readouterr()
    assert printed.out == words
    assert "to see whether all is well now: regent status" in printed.err
    assert dict(reported.requests[-1].url.params) == {"limit": "50", **asked}


def test_what_to_do_is_said_once_for_findings_of_one_kind(reported, capsys):
    more = {**FINDING, "id": 3, "subject": "broker-b", "advice": "Stop the other of broker-b."}
    reported.on("GET", "/findings", {"items": [FINDING, more], "next": None, "total_count": 2})

    run(["finding", "list"])

    *_, title, advice, others = capsys.readouterr().out.splitlines()
    assert title == "two_masters: Two brokers of a group act as master"
    assert (advice, others) == ("  next: Stop the other.", "  likewise: broker-b")


def test_the_exit_codes_are_those_that_are_promised():
    assert {code.name: code.value for code in ExitCode} == {
        "DONE": 0,
        "FAILED": 1,
        "USAGE": 2,
        "REFUSED": 3,
        "NOT_FOUND": 4,
        "NOT_ALLOWED": 5,
        "PARTLY_DONE": 6,
        "OUTCOME_UNKNOWN": 7,
        "STILL_RUNNING": 8,
        "DEGRADED": 10,
        "CRITICAL": 11,
        "HEALTH_UNKNOWN": 12,
        "INTERRUPTED": 130,
        "READER_GONE": 141,
    }


def test_every_state_that_an_operation_ends_in_has_its_code():
    moving = {*("planned", "awaiting_approval", "queued", "running", "paused")}
    assert set(EXIT_CODES) == {str(state) for state in OperationState} - moving


@pytest.mark.parametrize(
    ("status", "code"),
    [
        *((400, 2), (422, 2), (401, 5), (403, 5), (404, 4), (409, 3), (412, 3)),
        *((429, 1), (500, 1), (502, 1), (503, 1)),
    ],
)
def test_every_refusal_ends_with_its_code(signed_in, status, code):
    signed_in.on("GET", "/findings", refusal(status, "some_code", "no"))

    assert run(["finding", "list"]) == code
