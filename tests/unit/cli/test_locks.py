"""What commands about locks and queues print, and what they send."""

import json

import pytest

from backend.cli.app import run
from backend.cli.errors import ExitCode
from tests.unit.cli.test_orders import ID, PATH, operation, sent
from tests.unit.cli.test_replicas import page

LOCK = {
    "cluster_name": "east",
    "consumer_group_name": "billing",
    "topic": "orders",
    "broker_group_name": "broker-a",
    "queue_id": 3,
    "is_logical": True,
    "physical_queue_id": 5,
    "broker_address": "10.0.0.1:10911",
    "client_id": "10.0.0.7@412",
    "holder": "gone",
    "held_ms": 90_400,
    "renewed_ms": 48_000,
    "expires_in_ms": 12_000,
    "heard_ms": None,
}
STOCK = {
    "cluster_name": "east",
    "broker_group_name": "stock",
    "name": "stock-0",
    "broker_id": 0,
    "address": "10.0.0.2:10911",
    "why": "RocketMQ brokers do not report it",
}
BROKER = ["broker", "cordon", "broker-a", "--broker", "1"]


def locks(*found, after=None):
    return {
        "items": list(found),
        "next": after,
        "total_count": len(found),
        "unknown": [STOCK],
        "observed_at": "2026-03-02T12:00:00Z",
    }


@pytest.fixture
def east(signed_in):
    signed_in.on("GET", "/clusters", page({"name": "east"}))
    signed_in.on("POST", "/operations", operation())
    signed_in.on("POST", f"{PATH}/confirm", operation("queued"))
    signed_in.on("GET", PATH, operation("done"))
    return signed_in


def lines(capsys):
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_locks_are_listed_with_the_brokers_that_do_not_answer(signed_in, capsys):
    signed_in.on("GET", "/locks", locks(LOCK))

    assert run(["lock", "list", "--group", "billing", "--dead"]) == 0

    assert lines(capsys) == [
        "CLUSTER CONSUMER GROUP TOPIC QUEUE PHYSICAL BROKER HOLDER HELD RENEWED ENDS IN IS",
        "east billing orders 3 5 broker-a 10.0.0.7@412 90.4 s 48.0 s ago 12.0 s gone",
        "unknown: broker stock-0 (10.0.0.2:10911): RocketMQ brokers do not report it",
    ]
    [request] = signed_in.requests
    assert dict(request.url.params) == {
        "limit": "500",
        "consumer_group_name": "billing",
        "holder": "gone",
    }


def test_all_pages_of_locks_are_read(signed_in, capsys):
    signed_in.on("GET", "/locks", locks(LOCK, after="x"), locks({**LOCK, "queue_id": 4}))

    assert run(["lock", "list", "-o", "json"]) == 0

    reported = json.loads(capsys.readouterr().out)
    assert [one["queue_id"] for one in reported["locks"]] == [3, 4]
    assert reported["unknown"] == [STOCK]
    assert signed_in.requests[1].url.params["after"] == "x"


def test_a_release_names_the_client_and_what_of_it(east, capsys):
    command = ["lock", "release", "10.0.0.7@412", "--topic", "orders", "--queue", "3"]

    assert run([*command, "--yes", "--reason", "dead"]) == 0

    assert sent(east)[0] == (
        "/operations",
        {
            "kind": "release_locks",
            "parameters": {
                "cluster_name": "east",
                "client_id": "10.0.0.7@412",
                "consumer_group_name": None,
                "topic": "orders",
                "broker_group_name": None,
                "queue_id": 3,
            },
        },
    )
    assert capsys.readouterr().err.startswith("target: locks of 10.0.0.7@412 of cluster east at ")


def test_why_a_queue_is_paused_is_a_sentence_with_its_evidence(east, capsys):
    explained = {
        "broker_group_name": "broker-a",
        "queue_id": 3,
        "cause": "no_member",
        "is_paused": True,
        "sentence": "orders/3 on broker-a is not read.",
        "evidence": ["members: none"],
        "lag": 4,
    }
    found = {"queues": [explained], "observed_at": "2026-03-02T12:00:00Z"}
    east.on("GET", "/clusters/east/topics/orders/pauses", found)

    assert run(["queue", "why", "orders", "--group", "billing", "--queue", "3"]) == 0

    assert lines(capsys) == ["orders/3 on broker-a is not read.", "members: none"]
    params = dict(east.requests[-1].url.params)
    assert params == {"consumer_group_name": "billing", "queue_id": "3"}


def test_leases_say_when_none_runs(east, capsys):
    lease = {
        "cluster_name": "east",
        "broker_group_name": "broker-a",
        "master_id": 2,
        "master_address": "10.0.0.1:10911",
        "master_epoch": 7,
        "policy": "quorum",
        "is_master_alive": True,
        "ends_at": None,
    }
    held = {
        "operation_id": ID,
        "kind": "drain_broker",
        "target": "broker-a/0",
        "step": "wait until all is read",
        "fence": 1_770_000_000_000,
        "renewed_at": "2026-03-02T12:00:00Z",
        "ends_at": "2026-03-02T12:00:05Z",
    }
    east.on("GET", "/clusters/east/leases", page(lease))
    east.on("GET", "/clusters/east/operation-leases", page(held))

    assert run(["lock", "lease", "list"]) == 0

    reported = lines(capsys)
    assert reported[1] == "broker-a 2 10.0.0.1:10911 yes 7 quorum none runs"
    assert reported[-1] == (
        f"{ID} drain_broker broker-a/0 wait until all is read 1770000000000"
        " 2026-03-02 12:00:00Z 2026-03-02 12:00:05Z"
    )


def test_a_lease_is_broken_by_who_confirms_it(east, capsys):
    path = f"/operations/{ID}/lease"
    east.on("DELETE", path, operation(state="queued"))

    assert run(["lock", "lease", "break", ID]) == ExitCode.REFUSED
    assert run(["lock", "lease", "break", ID, "--confirm", "another"]) == ExitCode.REFUSED
    assert [one.method for one in east.requests] == []
    assert run(["lock", "lease", "break", ID, "--confirm", ID]) == 0

    assert f"operation {ID} was taken from its worker and is queued" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("verb", "defaults"),
    [
        ("cordon", {}),
        ("uncordon", {}),
        ("drain", {"waived_groups": [], "move_queues": False}),
        ("forget", {"loses_segments": False}),
    ],
)
def test_brokers_are_meant_by_id_or_address(east, verb, defaults, capsys):
    command = ["broker", verb, "broker-a", "--address", "10.0.0.1:10911"]

    assert run([*command, "--yes", "--reason", "why", "--no-wait"]) == 0

    [(path, order), _] = sent(east)
    assert (path, order["kind"]) == ("/operations", f"{verb}_broker")
    wanted = {
        "cluster_name": "east",
        "broker_group_name": "broker-a",
        "broker_id": 0,
        "address": "10.0.0.1:10911",
    }
    assert order["parameters"] == wanted | defaults
    assert capsys.readouterr().err.startswith("target: 10.0.0.1:10911 of broker-a of cluster east")


def test_a_step_that_waits_is_shown_once_until_there_is_news(east, capsys):
    def looks(state, error, after):
        step = operation()["steps"][0] | {"state": state, "error": error, "after": after}
        return operation("running" if state == "running" else "queued", steps=[step])

    east.on(
        "GET",
        PATH,
        looks("waiting", "5 left", {"n": 5}),
        looks("running", None, {"n": 5}),
        looks("waiting", "5 left", {"n": 5}),
        looks("waiting", "2 left", {"n": 2}),
        operation("done"),
    )

    assert run([*BROKER, "--yes", "--reason", "why", "--watch"]) == 0

    reported = capsys.readouterr().err.splitlines()[1:]
    assert reported == ["waiting: elect broker 2 (5 left)", "waiting: elect broker 2 (2 left)"]
    assert ID in PATH
