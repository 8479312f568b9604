"""Which broker a command means: by its name, or by its group and an id (case B2)."""

import httpx
import pytest

from backend.cli.app import run
from tests.unit.cli.fake_server import refusal
from tests.unit.cli.test_orders import WITH_REASON, operation, sent
from tests.unit.cli.test_replicas import page

EAST = "/clusters/east"
BROKER = {
    "name": "broker-a-2",
    "broker_group_name": "broker-a",
    "own_id": 2,
    "broker_id": 0,
    "role": "master",
    "state": "online",
    "address": "10.0.0.2:10911",
    "protection": None,
    "last_heartbeat_at": None,
}


@pytest.fixture
def east(signed_in):
    signed_in.on("GET", "/clusters", page({"name": "east"}))
    signed_in.on("GET", f"{EAST}/brokers/broker-a-2", BROKER)
    signed_in.on("POST", "/operations", operation(risk="R1"))
    return signed_in


def paths(server):
    return [httpx.URL(one.url).path.removeprefix("/api/v1") for one in server.requests]


@pytest.mark.parametrize("text", ["broker-a-2", "broker-a/2"])
def test_a_broker_is_shown_by_its_name_or_by_its_former_spelling(east, capsys, text):
    east.on("GET", f"{EAST}/brokers/broker-a%2F2", BROKER)

    assert run(["broker", "get", text]) == 0

    shown = capsys.readouterr().out.splitlines()[1].split()
    assert shown[:4] == ["broker-a-2", "broker-a", "master", "online"]


def test_the_broker_of_a_name_is_asked_by_its_own_id(east):
    # Not by that of its role, which another broker has after the next election.
    east.on("GET", f"{EAST}/broker-groups/broker-a/brokers/2/status", {"figures": {}})

    assert run(["broker", "status", "broker-a-2"]) == 0


def test_an_order_for_a_name_means_its_own_id(east, capsys):
    assert run(["broker", "cordon", "broker-a-2", *WITH_REASON, "--dry-run"]) == 0

    [(_, body)] = sent(east)
    meant = {
        "cluster_name": "east",
        "broker_group_name": "broker-a",
        "broker_id": 2,
        "address": None,
    }
    assert body["parameters"] == meant
    assert capsys.readouterr().err.startswith("target: broker broker-a-2 of cluster east")


def test_a_group_whose_name_ends_like_a_brokers_is_still_a_group(east):
    east.on("GET", f"{EAST}/broker-groups/broker-0", {"name": "broker-0"})
    east.on("GET", f"{EAST}/broker-groups/broker-0/brokers/0/status", {"figures": {}})
    east.on("GET", f"{EAST}/broker-groups/broker-0/brokers/3/status", {"figures": {}})

    assert run(["broker", "status", "broker-0"]) == 0
    assert run(["broker", "status", "broker-0", "--broker", "3"]) == 0

    assert f"{EAST}/brokers/broker-0" in paths(east)


def test_a_text_that_can_be_no_brokers_name_is_a_group_without_a_question(east):
    # An id is written one way only, so 01 is no id (D31).
    east.on("GET", f"{EAST}/broker-groups/broker-01/brokers/0/status", {"figures": {}})

    assert run(["broker", "status", "broker-01"]) == 0

    assert f"{EAST}/brokers/broker-01" not in paths(east)


def test_a_name_that_neither_a_broker_nor_a_group_has_is_refused(east, capsys):
    unknown = refusal(404, "broker_unknown", "no broker 7 of group 'broker-a'")
    east.on("GET", f"{EAST}/brokers/broker-a-7", unknown)

    assert run(["broker", "cordon", "broker-a-7", *WITH_REASON]) == 4

    assert "no broker 7 of group 'broker-a'" in capsys.readouterr().err
    assert sent(east) == []
