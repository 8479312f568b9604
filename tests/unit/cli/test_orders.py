"""What commands that change something plan, ask, send, wait for and end with."""

import io
import json

import httpx
import pytest

from backend.cli.app import run
from tests.unit.cli.fake_server import SERVER, refusal
from tests.unit.cli.test_replicas import candidate, page

ID = "7b0c7c1e-5d3a-4b53-9d42-4a1c5c1f7a10"
PATH = f"/operations/{ID}"
ELECT = ["controller", "elect", "broker-a", "--broker", "2"]
FORGET = ["controller", "forget", "broker-a", "--broker", "2"]
ADOPT = ["replica", "adopt", "broker-a"]
PREFER = ["controller", "prefer", "broker-a"]
WITH_REASON = ["--yes", "--reason", "planned work"]


def step(**values):
    return {
        "position": 0,
        "name": "elect",
        "title": "elect broker 2",
        "state": "pending",
        "attempt_count": 0,
        "before": None,
        "after": None,
        "error": None,
        "began_at": None,
        "ended_at": None,
        **values,
    }


def operation(state="planned", *, risk="R2", loss=None, verdict="pass", **values):
    plan = {
        "summary": "Broker 2 becomes master of broker-a",
        "risk": risk,
        "risk_label": "affects service, reversible",
        "preconditions": [{"name": "master epoch", "value": "3"}],
        "changes": [{"what": "master", "before": "1", "after": "2"}],
        "impact": ["sends wait"],
        "checks": [{"name": "lease", "verdict": verdict, "why": "it is so", "stock_code": None}],
        "way_back": "elect back",
        "loss": loss,
        "facts": {
            "candidates": [{"broker_id": 2, "verdict": "wins", "reason": "would become master"}]
        },
    }
    return {
        "id": ID,
        "kind": "elect_master",
        "cluster_name": "east",
        "target": "broker-a",
        "state": state,
        "wish": None,
        "parameters": {},
        "plan": plan,
        "steps": [step()],
        "read_back": [],
        "outcome": None,
        "requested_by": "admin",
        "reason": None,
        "confirmed_by": None,
        "planned_at": "2026-03-02T12:00:00Z",
        "expires_at": "2026-03-02T12:10:00Z",
        "confirmed_at": None,
        "not_before": None,
        "ended_at": None,
        "undoes": None,
        **values,
    }


READ_BACK = {"what": "master", "intended": "2", "observed": "2", "agreement": "agrees"}
DONE = operation(
    "done",
    outcome="read back as intended",
    read_back=[READ_BACK],
    steps=[step(state="done", attempt_count=1)],
)


@pytest.fixture
def east(signed_in):
    signed_in.on("GET", "/clusters", page({"name": "east"}))
    signed_in.on("GET", "/adoption-candidates", page(candidate(1), candidate(2)))
    signed_in.on("POST", "/operations", operation())
    signed_in.on("POST", f"{PATH}/confirm", operation("queued"))
    signed_in.on("GET", PATH, operation("running", steps=[step(state="running")]), DONE)
    return signed_in


def sent(server):
    """What was posted, by path."""
    return [
        (request.url.path.removeprefix("/api/v1"), json.loads(request.content or "null"))
        for request in server.requests
        if request.method == "POST"
    ]


def test_an_election_is_planned_shown_confirmed_and_awaited(east, capsys):
    assert run([*ELECT, *WITH_REASON, "--watch"]) == 0

    shown = capsys.readouterr()
    assert sent(east) == [
        (
            "/operations",
            {
                "kind": "elect_master",
                "parameters": {
                    "cluster_name": "east",
                    "broker_group_name": "broker-a",
                    "broker_id": 2,
                    "mode": "graceful",
                    "accepts_loss": False,
                },
            },
        ),
        (
            f"{PATH}/confirm",
            {"typed_name": "broker-a", "reason": "planned work", "accepts_loss": False},
        ),
    ]
    keys = [r.headers["Idempotency-Key"] for r in east.requests if r.method == "POST"]
    assert keys[1] == f"{keys[0]}-confirm"
    assert shown.err.splitlines() == [
        f"target: group broker-a of cluster east at {SERVER}",
        "running: elect broker 2",
        "done: elect broker 2",
    ]
    assert [" ".join(line.split()) for line in shown.out.splitlines()] == [
        f"Plan {ID} (R2, affects service, reversible): Broker 2 becomes master of broker-a",
        "",
        "What will happen",
        "1. elect broker 2",
        "",
        "What changes",
        "BEFORE AFTER",
        "master 1 2",
        "",
        "Candidates",
        "ID VERDICT REASON",
        "2 wins would become master",
        "",
        "Impact",
        "sends wait",
        "",
        "What could go wrong",
        "pass: lease: it is so",
        "",
        "How to undo it",
        "elect back",
        "",
        f"operation {ID} is done",
        "read back as intended",
        "INTENDED OBSERVED VERDICT",
        "master 2 2 agrees",
    ]


@pytest.mark.parametrize(
    ("options", "broker_id"),
    [(["--broker", "2"], 2), (["--broker", "broker-a-2"], 2), (["--clear"], None)],
)
def test_a_preference_is_ordered_for_a_broker_or_for_none(east, options, broker_id):
    assert run([*PREFER, *options, "--yes", "--reason", "r"]) == 0

    [(_, order), _] = sent(east)
    assert (order["kind"], order["parameters"]) == (
        "prefer_master",
        {"cluster_name": "east", "broker_group_name": "broker-a", "broker_id": broker_id},
    )


@pytest.mark.parametrize("options", [[], ["--broker", "2", "--clear"]])
def test_a_preference_names_a_broker_or_none(east, capsys, options):
    assert run([*PREFER, *options]) == 2
    assert "--broker or --clear" in capsys.readouterr().err
    assert not sent(east)


@pytest.mark.parametrize(
    ("broker", "what"),
    [
        ("broker-b-2", "error: broker-b-2 is no broker of the group broker-a"),
        ("two", "error: invalid value for --broker: broker 'two' is not the name of a"),
        ("0", 'error: invalid value "0" for --broker'),
    ],
)
def test_a_broker_of_a_group_is_given_by_id_or_by_name(east, capsys, broker, what):
    assert run([*PREFER, "--broker", broker]) == 2
    assert capsys.readouterr().err.startswith(what)
    assert not sent(east)


@pytest.mark.parametrize("order", [ELECT, FORGET, ADOPT])
def test_a_dry_run_plans_and_confirms_nothing(east, capsys, order):
    assert run([*order, "--dry-run"]) == 0
    assert f"regent operation confirm {ID}" in capsys.readouterr().err
    assert run([*order, "--dry-run", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == ID
    assert [path for path, _ in sent(east)] == ["/operations"] * 2


@pytest.mark.parametrize(
    "order",
    [
        ELECT,
        ["operation", "confirm", ID],
        ["operation", "undo", ID],
        ["operation", "replan", ID],
    ],
)
def test_a_dry_run_of_a_blocked_plan_says_so_and_ends_well_where_the_order_is_refused(
    east, capsys, order
):
    blocked = operation(verdict="block")
    for path in ("/operations", f"{PATH}/undo", f"{PATH}/replan"):
        east.on("POST", path, blocked)
    east.on("GET", PATH, blocked)

    assert run([*order, *WITH_REASON]) == 3
    ordered = capsys.readouterr()
    assert run([*order, "--dry-run"]) == 0
    looked_at = capsys.readouterr()
    assert run([*order, "--dry-run", "-o", "json"]) == 0
    as_json = capsys.readouterr()

    assert "the plan is blocked" in ordered.err
    assert "why:  it is so" in ordered.err
    assert looked_at.out == ordered.out
    for reported in (looked_at.err, as_json.err):
        assert "the plan is blocked" in reported
        assert "it is so" in reported
        assert "to carry it out" not in reported
    assert json.loads(as_json.out)["id"] == ID


@pytest.mark.parametrize(
    ("options", "next_step"),
    [([], "add --yes and --reason"), (["--yes"], "add --reason TEXT")],
)
def test_without_a_terminal_an_order_needs_options(east, monkeypatch, capsys, options, next_step):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    assert run([*ELECT, *options]) == 3
    assert [path for path, _ in sent(east)] == ["/operations"]
    assert next_step in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("typed", "code"),
    [("broker-a\nplanned work\n", 0), ("y\n", 3), ("", 3), ("broker-a\n\n", 3)],
)
def test_on_a_terminal_the_name_and_a_reason_are_typed(east, monkeypatch, typed, code):
    monkeypatch.setattr("sys.stdin", Terminal(typed))

    assert run(ELECT) == code
    assert len(sent(east)) == (2 if code == 0 else 1)


def test_a_loss_is_accepted_by_name(east, monkeypatch, capsys):
    east.on("POST", "/operations", operation(risk="R3", loss="what only {2} hold"))

    assert run([*FORGET, *WITH_REASON]) == 3
    assert "this may lose what only {2} hold" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", Terminal("broker-a\nwhy\nno\n"))
    assert run(FORGET) == 3
    assert [path for path, _ in sent(east)] == ["/operations"] * 2
    assert run([*FORGET, *WITH_REASON, "--accept-loss"]) == 0
    assert sent(east)[-1][1]["accepts_loss"] is True


def test_a_blocked_plan_is_not_confirmed(east, capsys):
    east.on("POST", "/operations", operation(verdict="block"))

    assert run([*ELECT, *WITH_REASON]) == 3
    assert "the plan is blocked by its check 'lease'\n  why:  it is so" in capsys.readouterr().err
    assert [path for path, _ in sent(east)] == ["/operations"]


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("done", 0),
        ("failed", 1),
        ("lapsed", 3),
        ("cancelled", 3),
        ("partly", 6),
        ("unknown", 7),
        ("paused", 8),
    ],
)
def test_a_command_ends_as_its_operation_did(east, state, code):
    east.on("GET", PATH, operation(state, outcome="so it was"))

    assert run([*ELECT, *WITH_REASON]) == code
    assert run(["operation", "watch", ID, "-o", "json"]) == code


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (refusal(409, "plan_blocked", "nobody may", {"stock_code": 2012}), 3),
        (refusal(412, "precondition_moved", "plan again"), 3),
        (refusal(403, "forbidden", "may only read"), 5),
        (httpx.ReadTimeout("too late"), 7),
        (httpx.ConnectError("refused"), 1),
    ],
)
def test_a_confirmation_that_is_refused_ends_with_the_code_that_says_how(
    east, capsys, answer, code
):
    east.on("POST", f"{PATH}/confirm", answer)

    assert run([*ELECT, *WITH_REASON]) == code
    assert capsys.readouterr().err


def test_without_waiting_the_operation_goes_on_by_itself(east, capsys):
    assert run([*ELECT, *WITH_REASON, "--no-wait"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"operation {ID} is queued"
    assert not any(request.url.path.endswith(ID) for request in east.requests)


def test_all_who_wait_are_adopted_unless_some_are_chosen(east):
    chosen = ["--broker", "broker-a-2", "--master", "2", "--least-epoch", "7", "--accept-loss"]

    assert run([*ADOPT, *WITH_REASON]) == 0
    assert run([*ADOPT, *chosen, *WITH_REASON]) == 0

    orders = [body["parameters"] for path, body in sent(east) if path == "/operations"]
    assert [(o["broker_ids"], o["master_id"], o["accepts_loss"]) for o in orders] == [
        ([1, 2], None, False),
        ([2], 2, True),
    ]


def test_a_plan_without_waiting_brokers_or_in_several_clusters_is_refused(east, capsys):
    assert run(["replica", "adopt", "broker-z", "--yes"]) == 4
    west = candidate(1, cluster_name="west")
    east.on("GET", "/adoption-candidates", page(candidate(1), west))
    assert run([*ADOPT, "--yes"]) == 2
    assert "next: add --cluster east" in capsys.readouterr().err


def test_operations_are_listed_and_shown(east, capsys):
    east.on("GET", "/operations", page(DONE))
    east.on("GET", PATH, DONE)

    assert run(["op", "list"]) == 0
    row = " ".join(capsys.readouterr().out.splitlines()[1].split())
    assert row == f"{ID} 2026-03-02 12:00:00Z elect_master east broker-a R2 done 1/1 admin"
    assert run(["operation", "get", ID]) == 0
    assert "elect done 1" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("verb", ["pause", "resume", "cancel", "retry"])
def test_operations_are_steered(east, capsys, verb):
    east.on("POST", f"{PATH}/{verb}", operation("running", wish="pause"))

    assert run(["operation", verb, ID]) == 0
    assert capsys.readouterr().out == f"operation {ID} is running, to pause after this step\n"


@pytest.mark.parametrize("verb", ["undo", "replan"])
def test_an_operation_is_undone_or_planned_again_by_another(east, verb):
    east.on("POST", f"{PATH}/{verb}", operation())

    assert run(["operation", verb, ID, *WITH_REASON]) == 0
    assert [path for path, _ in sent(east)] == [f"{PATH}/{verb}", f"{PATH}/confirm"]


def test_operations_are_found_by_kind_and_target(east):
    east.on("GET", "/operations", page(DONE))

    assert run(["operation", "list", "--kind", "elect_master", "--target", "oker-a"]) == 0
    asked = east.requests[-1].url.params
    assert (asked["kind"], asked["search"]) == ("elect_master", "oker-a")


VERBS = ("list", "get", "watch", "confirm", "pause", "undo", "replan")
COMMANDS = [f"operation {verb}" for verb in VERBS]


@pytest.mark.parametrize("command", [*COMMANDS, "audit list", "audit export", "audit verify"])
def test_every_command_shows_examples(command, capsys):
    assert run([*command.split(), "--help"]) == 0
    assert f"regent {command}" in capsys.readouterr().out.split("Example")[1]
