"""A database that named broker groups and consumer groups alike is read under the present names."""

import json

import psycopg
import pytest

from migrations import downgrade, upgrade

BEFORE, AFTER = "20261127_40", "20261128_01"
QUOTED = 'a "group_name": in a text'
INSERT = """
INSERT INTO operations (id, kind, cluster_name, target, state, parameters, plan, requested_by,
    planned_at, expires_at, read_back, fence)
VALUES (gen_random_uuid(), %s, 'c', 'x', 'planned', %s, %s, 'anna', now(), now(), '[]', 0)
RETURNING id"""
LOCK = {"consumer_group": "billing", "topic": "orders"}
PRESENT_LOCK = {"consumer_group_name": "billing", "topic": "orders"}
BROKER, PRESENT_BROKER = {"group_name": "broker-a"}, {"broker_group_name": "broker-a"}
FACTS = {"brokers": [BROKER], "note": QUOTED}
PRESENT_FACTS = {"brokers": [PRESENT_BROKER], "note": QUOTED}


@pytest.mark.parametrize(
    ("kind", "order", "present"),
    [
        ("elect_master", {"group_name": "broker-a"}, {"broker_group_name": "broker-a"}),
        (
            "change_consumer_group",
            {"group_name": "billing", "settings": [{"group_name": "broker-a"}]},
            {"consumer_group_name": "billing", "settings": [{"broker_group_name": "broker-a"}]},
        ),
        ("reset_offsets", {"consumer_group": "g"}, {"consumer_group_name": "g"}),
        (
            "change_protection",
            {"resource_kind": "consumer_group"},
            {"resource_kind": "consumer_group"},
        ),
    ],
)
def test_orders_and_plans_have_the_present_names(empty_database_url, kind, order, present):
    upgrade(empty_database_url, revision=BEFORE)
    write(empty_database_url, kind, order, {"facts": FACTS})

    upgrade(empty_database_url, revision=AFTER)
    assert read(empty_database_url) == (present, {"facts": PRESENT_FACTS})

    downgrade(empty_database_url, revision=BEFORE)
    assert read(empty_database_url) == (order, {"facts": FACTS})


def test_a_release_of_locks_keeps_its_brokers_and_locks(empty_database_url):
    upgrade(empty_database_url, revision=BEFORE)
    plan = {"facts": {}, "steps": {"release": {"broker": BROKER, "locks": [LOCK]}}}
    write(empty_database_url, "release_locks", {}, plan)

    upgrade(empty_database_url, revision=AFTER)
    step = {"broker": PRESENT_BROKER, "locks": [PRESENT_LOCK]}
    assert read(empty_database_url) == ({}, {"facts": {}, "steps": {"release": step}})

    downgrade(empty_database_url, revision=BEFORE)
    assert read(empty_database_url) == ({}, plan)


def test_actions_of_the_former_version_keep_their_names(empty_database_url):
    upgrade(empty_database_url, revision=BEFORE)
    plan = {"facts": {}, "steps": {"elect": PRESENT_BROKER}}
    write(empty_database_url, "elect_master", {}, plan)

    upgrade(empty_database_url, revision=AFTER)
    downgrade(empty_database_url, revision=BEFORE)

    assert read(empty_database_url) == ({}, plan)


def write(url, kind, order, plan):
    with psycopg.connect(url) as connection:
        connection.execute(INSERT, [kind, json.dumps(order), json.dumps(plan)])


def read(url):
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT parameters, plan FROM operations").fetchone()
