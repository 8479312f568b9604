"""What `regent topic static check` prints, and its exit code."""

import json

import pytest

from backend.cli.app import run
from tests.unit.cli.test_replicas import page

DIFFERENCE = {
    "name": "INV-6",
    "rule": "all mappings have one epoch",
    "where": "broker group broker-a",
    "what": "it is 5 here, and 6 at the control plane",
    "broker_group_name": "broker-a",
    "next_step": "Wait.",
}
SILENT = {"name": "10.0.0.9:9876", "why": "it can't be reached"}


@pytest.fixture
def check(signed_in):
    signed_in.on("GET", "/clusters", page({"name": "east"}))

    def answer(*differences, not_compared=(), changing=False):
        found = {
            "topic_name": "orders",
            "sound": not differences and not not_compared,
            "changing": changing,
            "epoch": 6,
            "differences": list(differences),
            "not_compared": list(not_compared),
        }
        signed_in.on("GET", "/clusters/east/topics/orders/logical-queues/check", found)
        return found

    return answer


def test_a_difference_is_printed_with_the_next_step(check, capsys):
    check(DIFFERENCE, not_compared=[SILENT])

    assert run(["topic", "static", "check", "orders"]) == 10

    assert capsys.readouterr().out.splitlines() == [
        f"INV-6: broker group broker-a: {DIFFERENCE['what']} ({DIFFERENCE['rule']})",
        "    Wait.",
        "not compared: 10.0.0.9:9876: it can't be reached",
    ]


def test_a_silent_name_server_leaves_the_result_unknown(check, capsys):
    check(not_compared=[SILENT])

    assert run(["topic", "static", "check", "orders"]) == 12

    assert "nothing differs" not in capsys.readouterr().out


def test_a_sound_topic_has_the_exit_code_0(check, capsys):
    found = check(changing=True)

    assert run(["topic", "static", "check", "orders"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "nothing differs in epoch 6",
        "a change is unfinished: routes and epochs were not compared",
    ]
    assert run(["topic", "static", "check", "orders", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == found
