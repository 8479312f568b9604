"""What may follow an operation, whether its facts hold, and how it is found, in both doors."""

import json

import pytest

from backend.operations.engine.known_kinds import KINDS
from tests.integration.api.ordering import OPS, REASON, V1

FOLLOWING = """
query ($id: ID!) { operation(id: $id) {
  actions whyNotUndo movedFact { name expected found }
  plan { gate { needsName needsLossAccepted holdMs } } } }
"""
LISTED = """
query ($kind: String, $search: String) {
  operations(first: 10, kind: $kind, search: $search) { totalCount nodes { id } }
  operationKinds }
"""
REPLAN = 'mutation ($id: ID!) { replanOperation(id: $id, key: "k") { id state kind } }'


@pytest.mark.usefixtures("f3")
async def test_both_doors_show_what_may_follow_and_what_the_gate_asks(ask, plan, act):
    election = await plan("elect_master", broker_id=2)
    forgetting = await plan("forget_replicas", broker_ids=[3])
    blocked = await plan("elect_master", broker_id=3)

    told = [(await ask(FOLLOWING, id=one["id"]))["operation"] for one in (election, forgetting)]

    assert election["actions"] == ["confirm", "cancel", "replan"]
    assert blocked["actions"] == ["cancel", "replan"]
    assert told[0]["actions"] == ["CONFIRM", "CANCEL", "REPLAN"]
    assert [one["plan"]["gate"] for one in told] == [
        {"needsName": True, "needsLossAccepted": False, "holdMs": 0},
        {"needsName": True, "needsLossAccepted": True, "holdMs": 10_000},
    ]
    assert forgetting["plan"]["gate"] == {
        "needs_name": True,
        "needs_loss_accepted": True,
        "hold_ms": 10_000,
    }
    queued = await act(election, "confirm", REASON)
    assert queued["actions"] == ["pause", "cancel"]


@pytest.mark.usefixtures("f3")
async def test_an_undo_is_offered_where_there_is_something_to_take_back(
    client, ask, plan, act, carry_out, follow
):
    changed = await plan("elect_master", broker_id=2)
    await act(changed, "confirm", REASON)
    follow(2)
    await carry_out()
    unchanged = await plan("elect_master")
    await act(unchanged, "confirm", REASON)
    await carry_out()

    in_rest = [(await client.get(f"{OPS}/{one['id']}")).json() for one in (changed, unchanged)]
    in_graph = (await ask(FOLLOWING, id=unchanged["id"]))["operation"]

    assert [one["state"] for one in in_rest] == ["done", "done"]
    assert [(one["actions"], one["why_not_undo"]) for one in in_rest] == [
        (["undo"], None),
        ([], "the master stayed"),
    ]
    assert (in_graph["actions"], in_graph["whyNotUndo"]) == ([], "the master stayed")


@pytest.mark.usefixtures("f3")
async def test_a_fact_that_has_changed_is_shown_before_the_confirmation(client, ask, plan, driver):
    planned = await plan("elect_master", broker_id=2)
    holding = (await client.get(f"{OPS}/{planned['id']}/facts")).json()
    await driver.elect(2, designated=True)

    moved = (await client.get(f"{OPS}/{planned['id']}/facts")).json()
    in_graph = (await ask(FOLLOWING, id=planned["id"]))["operation"]

    assert holding == {"moved": None}
    assert moved == {"moved": {"name": "master epoch", "expected": "1", "found": "2"}}
    assert in_graph["movedFact"] == moved["moved"]
    # Looking changes nothing: the plan expires at a confirmation, or with time.
    assert (await client.get(f"{OPS}/{planned['id']}")).json()["state"] == "planned"


@pytest.mark.usefixtures("f3")
async def test_the_facts_of_what_is_no_plan_any_more_are_not_compared(client, plan, act, driver):
    planned = await plan("elect_master", broker_id=2)
    await act(planned, "cancel")
    await driver.elect(2, designated=True)

    assert (await client.get(f"{OPS}/{planned['id']}/facts")).json() == {"moved": None}


@pytest.mark.usefixtures("f3")
async def test_a_stale_plan_is_made_again_from_the_facts_of_now(ask, plan, act, driver):
    stale = await plan("elect_master", broker_id=2)
    await driver.elect(2, designated=True)
    await act(stale, "confirm", REASON, status=412)

    again = await act(stale, "replan", status=201)
    in_graph = [(await ask(REPLAN, id=stale["id"]))["replanOperation"] for _ in range(2)]

    assert again["id"] != stale["id"]
    assert again["parameters"] == stale["parameters"]
    assert again["plan"]["preconditions"][0] == {"name": "master epoch", "value": "2"}
    # One key, one plan.
    assert in_graph[0] == in_graph[1]
    assert in_graph[0]["state"] == "PLANNED"


@pytest.mark.usefixtures("f3")
async def test_what_is_at_work_is_not_planned_again(plan, act):
    planned = await plan("elect_master", broker_id=2)
    await act(planned, "confirm", REASON)

    told = await act(planned, "replan", status=409)

    assert told["code"] == "operation_state_conflict"


@pytest.mark.usefixtures("f3")
async def test_operations_are_found_by_kind_and_by_a_part_of_their_target(client, ask, plan):
    election = await plan("elect_master", broker_id=2)
    forgetting = await plan("forget_replicas", broker_ids=[3])

    async def found(**parameters):
        page = (await client.get(OPS, params=parameters)).json()
        return page["total_count"], [one["id"] for one in page["items"]]

    both = [forgetting["id"], election["id"]]
    assert await found(kind="elect_master") == (1, [election["id"]])
    assert await found(search="G") == (2, both)
    # What LIKE would read as "anything" is a letter like others.
    assert await found(search="%") == (0, [])
    assert await found(search="g\0") == (0, [])
    data = await ask(LISTED, kind="forget_replicas", search="g")
    assert [one["id"] for one in data["operations"]["nodes"]] == [forgetting["id"]]
    assert data["operationKinds"] == list(KINDS)
    none = await ask(LISTED, kind="\0")
    assert none["operations"]["totalCount"] == 0


@pytest.mark.usefixtures("f3")
async def test_the_audit_is_exported_in_its_order_and_as_it_is_listed(
    client, stranger, plan, act, monkeypatch
):
    monkeypatch.setattr("backend.services.access.audit.BATCH_SIZE", 2)
    first = await plan("elect_master", broker_id=2)
    await act(first, "cancel")
    await plan("elect_master", broker_id=2)

    whole = await client.get(V1 + "/audit/export")
    of_one = await client.get(V1 + "/audit/export", params={"operation_id": first["id"]})

    lines = [json.loads(line) for line in whole.text.splitlines()]
    listed = (await client.get(V1 + "/audit")).json()["items"]
    assert lines == listed[::-1]
    assert [line["number"] for line in lines] == [1, 2, 3]
    assert [json.loads(line)["number"] for line in of_one.text.splitlines()] == [1, 2]
    assert whole.headers["content-type"].startswith("application/jsonl")
    assert "attachment" in whole.headers["content-disposition"]
    assert (await stranger.get(V1 + "/audit/export")).status_code == 401


@pytest.mark.usefixtures("f3")
async def test_a_plan_that_is_refused_says_what_it_would_have_done(plan):
    refused = (await plan("forget_replicas", broker_ids=[1]))["plan"]

    assert [one["verdict"] for one in refused["checks"]].count("block") == 1
    assert refused["summary"] == "Replicas {1} of cluster c are forgotten"
    assert [(one["before"], one["after"]) for one in refused["changes"]] == [
        ("{1, 2, 3}", "{2, 3}"),
        ("{1, 2, 3}", "{2, 3}"),
    ]
