"""The commands `regent container …`: what they ask, list and refuse."""

import pytest

from backend.cli.app import run
from backend.cli.errors import ExitCode
from tests.unit.cli.test_orders import WITH_REASON, operation, sent
from tests.unit.cli.test_replicas import page

ADDRESS = "127.0.0.1:10811"
CONTAINER = {
    "address": ADDRESS,
    "brokers": [
        {
            "cluster_name": "east",
            "broker_group_name": "broker-a",
            "name": "broker-a-0",
            "own_id": 0,
            "is_master": True,
            "path": "/etc/a.conf",
            "failure": None,
        },
        {
            "cluster_name": "",
            "broker_group_name": "",
            "name": None,
            "own_id": None,
            "is_master": False,
            "path": "/etc/b.conf",
            "failure": "listenPort=many: must be a number",
        },
    ],
    "why_unknown": None,
}


@pytest.fixture
def east(signed_in):
    signed_in.on("GET", "/clusters", page({"name": "east"}))
    signed_in.on("POST", "/operations", operation())
    return signed_in


def test_containers_are_listed_with_their_brokers(east, capsys):
    east.on("GET", "/containers", {**page(CONTAINER), "unknown": []})

    assert run(["container", "list"]) == ExitCode.DONE

    shown = capsys.readouterr().out
    assert ADDRESS in shown
    assert "broker-a-0, /etc/b.conf" in shown


def test_a_container_says_why_a_broker_does_not_run(east, capsys):
    east.on("GET", "/containers", {**page(CONTAINER), "unknown": []})

    assert run(["container", "show", ADDRESS]) == ExitCode.DONE

    shown = capsys.readouterr().out
    assert "listenPort=many" in shown
    assert "/etc/a.conf" in shown


def test_an_unknown_container_is_not_found(east, capsys):
    east.on("GET", "/containers", {**page(), "unknown": []})

    assert run(["container", "show", ADDRESS]) == ExitCode.NOT_FOUND
    assert "regent container list" in capsys.readouterr().err


def test_a_broker_without_a_known_id_is_removed_by_its_file(east, capsys):
    words = ["--container", ADDRESS, "--file", "/etc/b.conf", "--dry-run", *WITH_REASON]

    assert run(["container", "remove-broker", "broker-b", *words]) == ExitCode.DONE

    ((_, planned),) = sent(east)
    assert planned["parameters"] == {
        "cluster_name": "east",
        "broker_group_name": "broker-b",
        "broker_id": 0,
        "address": None,
        "container_address": ADDRESS,
        "config_path": "/etc/b.conf",
        "interrupts_group": False,
    }
    assert "target: the broker of /etc/b.conf of cluster east" in capsys.readouterr().err


def test_a_broker_is_added_by_its_file(east, capsys):
    words = ["--file", "/etc/b.conf", "--broker-group", "b", "--dry-run", *WITH_REASON]

    assert run(["container", "add-broker", ADDRESS, *words]) == ExitCode.DONE

    ((_, planned),) = sent(east)
    assert planned["kind"] == "add_broker"
    assert planned["parameters"] == {
        "cluster_name": "east",
        "container_address": ADDRESS,
        "config_path": "/etc/b.conf",
        "broker_group_name": "b",
        "broker_id": 0,
    }
    assert f"target: broker b-0 in container {ADDRESS} of cluster east" in capsys.readouterr().err
