"""Changes over REST: planned, confirmed, carried out, read back, undone."""

import pytest
from sqlalchemy import update

from backend.db.operation_tables import operations
from backend.domain.election import ReplicaReport
from backend.domain.errors import AdoptionAwaited
from backend.domain.user import Role
from backend.services.controller.replica_groups import RegisterReplica, register
from tests.integration.api.access import make_credentials
from tests.integration.api.ordering import LOSS, OPS, REASON, V1, G


@pytest.mark.usefixtures("f3")
async def test_an_election_is_previewed_confirmed_carried_out_and_undone(
    client, plan, act, carry_out, follow
):
    planned = await plan("elect_master", broker_id=2)
    queued = await act(planned, "confirm", REASON)
    follow(2)
    await carry_out()

    preview = planned["plan"]
    assert (planned["state"], preview["risk"]) == ("planned", "R2")
    assert {d["what"]: (d["before"], d["after"]) for d in preview["changes"]} == {
        "master": ("1", "2"),
        "master epoch": ("1", "2"),
        "SyncStateSet": ("{1, 2, 3}", "{2}"),
        "SyncStateSet epoch": ("2", "3"),
    }
    verdicts = [(c["broker_id"], c["verdict"]) for c in preview["facts"]["candidates"]]
    assert verdicts == [(1, "not_designated"), (2, "wins"), (3, "not_alive")]
    assert preview["facts"]["bytes_behind"] == "20"
    assert queued["state"] == "queued"
    done = (await client.get(f"{OPS}/{planned['id']}")).json()
    assert (done["state"], done["outcome"]) == ("done", "read back as intended")
    elect = done["steps"][0]
    assert (elect["before"]["master_id"], elect["after"]["master_id"]) == (1, 2)
    newest = (await client.get(G + "/changes", params={"limit": 1})).json()["items"][0]
    assert newest["cause"] == f"operation {done['id']}/0 of admin"

    back = await act(done, "undo", status=201)
    # Broker 1 is outside the set of {2}, so that it may lack what was acknowledged since.
    assert (back["undoes"], back["parameters"]["broker_id"]) == (done["id"], 1)
    assert back["plan"]["checks"][0]["verdict"] == "block"


@pytest.mark.usefixtures("f3")
async def test_an_election_back_makes_the_first_one_undone(
    client, plan, act, carry_out, follow, driver
):
    first = await plan("elect_master", broker_id=2)
    await act(first, "confirm", REASON)
    follow(2)
    await carry_out()
    await driver.alter({1, 2}, epoch=3, master=2, master_epoch=2)

    back = await act(first, "undo", status=201)
    await act(back, "confirm", REASON)
    follow(3)
    await carry_out()

    assert (await client.get(f"{OPS}/{first['id']}")).json()["state"] == "undone"
    assert (await client.get(G)).json()["master_id"] == 1


@pytest.mark.usefixtures("f3")
async def test_a_preference_is_carried_out_judged_by_and_undone(
    client, plan, act, carry_out, driver
):
    planned = await plan("prefer_master", broker_id=3)
    await act(planned, "confirm", {})
    await carry_out()
    driver.heartbeat_source.heard = {
        i: ReplicaReport(0, 10_000, epoch=1, max_offset=9) for i in (2, 3)
    }

    preview = planned["plan"]
    assert (preview["risk"], preview["summary"]) == (
        "R1",
        "The preferred master of g becomes broker 3",
    )
    assert [(d["what"], d["before"], d["after"]) for d in preview["changes"]] == [
        ("preferred master", "none", "broker 3")
    ]
    done = (await client.get(f"{OPS}/{planned['id']}")).json()
    assert (done["state"], done["outcome"]) == ("done", "read back as intended")
    group = (await client.get(G)).json()
    assert (group["preferred_id"], group["master_id"], group["master_epoch"]) == (3, 1, 1)
    verdicts = {c["broker_id"]: c["verdict"] for c in group["election"]["candidates"]}
    assert verdicts == {1: "not_alive", 2: "not_preferred", 3: "wins"}
    newest = (await client.get(G + "/changes", params={"limit": 1})).json()["items"][0]
    assert newest["kind"] == "preference_changed"
    assert newest["cause"] == f"operation {done['id']}/0 of admin"
    # Another one is planned from a preference that moves meanwhile.
    stale = await plan("prefer_master", broker_id=2)

    back = await act(done, "undo", status=201)
    await act(back, "confirm", {})
    await carry_out()

    assert (await client.get(G)).json()["preferred_id"] is None
    assert (await client.get(f"{OPS}/{planned['id']}")).json()["state"] == "undone"
    told = await act(stale, "confirm", {}, status=412)
    assert told["facts"]["precondition"] == "preferred master"


@pytest.mark.usefixtures("f3")
async def test_a_stale_plan_is_refused_and_names_what_moved(client, plan, act, driver):
    planned = await plan("elect_master", broker_id=2)
    await driver.elect(2, designated=True)

    told = await act(planned, "confirm", REASON, status=412)

    assert told["code"] == "precondition_moved"
    assert told["facts"] == {
        "precondition": "master epoch",
        "expected": "1",
        "found": "2",
    }
    lapsed = (await client.get(f"{OPS}/{planned['id']}")).json()
    assert lapsed["state"] == "lapsed"
    assert (await act(planned, "confirm", REASON, status=409))["code"] == (
        "operation_state_conflict"
    )


@pytest.mark.usefixtures("f3")
async def test_what_moves_after_the_confirmation_stops_the_operation(
    client, plan, act, carry_out, driver
):
    planned = await plan("elect_master", broker_id=2)
    await act(planned, "confirm", REASON)
    await driver.elect(2, designated=True)
    await carry_out()

    failed = (await client.get(f"{OPS}/{planned['id']}")).json()

    assert failed["state"] == "failed"
    assert "master epoch was 1" in failed["outcome"]
    assert (await client.get(G)).json()["master_epoch"] == 2


@pytest.mark.usefixtures("f3")
async def test_one_key_has_one_effect(client, plan, act, carry_out, follow):
    first = await plan("elect_master", key="k1", broker_id=2)
    again = await plan("elect_master", key="k1", broker_id=2)
    other = await plan("elect_master", key="k1", broker_id=1, status=422)
    for _ in range(2):
        await act(first, "confirm", REASON, key="k2")
    follow(2)
    await carry_out()
    afterwards = await act(first, "confirm", REASON, key="k2")

    assert again["id"] == first["id"]
    assert other["code"] == "idempotency_key_reused"
    assert afterwards["state"] == "done"
    changes = (await client.get(G + "/changes")).json()["items"]
    assert [c["master_id"] for c in changes if c["kind"] == "master_elected"] == [2, 1]


@pytest.mark.usefixtures("f3")
async def test_a_key_finds_what_takes_back_also_when_it_has_been_taken_back(plan, act, carry_out):
    first = await plan("prefer_master", broker_id=2)
    await act(first, "confirm", {})
    await carry_out()
    back = await act(first, "undo", status=201, key="k1")
    await act(back, "confirm", {})
    await carry_out()

    again = await act(first, "undo", status=201, key="k1")
    other = await act(back, "undo", status=422, key="k1")
    anew = await act(first, "undo", status=409, key="k2")

    assert (again["id"], again["state"]) == (back["id"], "done")
    assert (other["code"], anew["code"]) == ("idempotency_key_reused", "operation_state_conflict")


@pytest.mark.usefixtures("f3")
async def test_a_key_finds_what_was_planned_again_of_what_goes_on_by_now(plan, act):
    first = await plan("prefer_master", broker_id=2)
    again = await act(first, "replan", status=201, key="k1")
    await act(first, "confirm", {})

    found = await act(first, "replan", status=201, key="k1")

    assert found["id"] == again["id"]
    assert (await act(first, "replan", status=409, key="k2"))["code"] == "operation_state_conflict"


@pytest.mark.usefixtures("f3")
@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({}, "type the name 'g'"),
        ({"typed_name": "G", "reason": "why"}, "type the name 'g'"),
        ({"typed_name": "g"}, "give a reason"),
        ({"typed_name": "g", "reason": " \n"}, "give a reason"),
    ],
)
async def test_the_gate_of_the_risk_class_is_kept(plan, act, given, what):
    planned = await plan("elect_master", broker_id=2)

    told = await act(planned, "confirm", given, status=422)

    assert told["code"] == "confirmation_missing"
    assert what in told["detail"]


@pytest.mark.usefixtures("f3")
@pytest.mark.parametrize(
    ("kind", "parameters", "status", "code"),
    [
        ("elect_master", {"broker_id": 9}, 404, "broker_not_registered"),
        ("elect_master", {"broker_group_name": "h"}, 404, "broker_group_not_controlled"),
        ("elect_master", {"broker_id": "2"}, 400, "invalid_parameters"),
        ("elect_master", {"broker": 2}, 400, "invalid_parameters"),
        ("elect_master", {"broker_group_name": "a/b"}, 400, "invalid_name"),
        ("prefer_master", {"broker_id": 9}, 409, "unknown_replica"),
        ("prefer_master", {"broker_group_name": "h"}, 404, "broker_group_not_controlled"),
        ("dance", {}, 400, "invalid_parameters"),
        ("forget_replicas", {"broker_ids": [8]}, 409, "unknown_replica"),
        (
            "forget_replicas",
            {"broker_ids": [3], "includes_living": True},
            409,
            "clean_refused",
        ),
    ],
)
async def test_what_cannot_be_planned_is_refused(plan, kind, parameters, status, code):
    told = await plan(kind, status=status, **parameters)

    assert told["code"] == code


@pytest.mark.usefixtures("f3")
@pytest.mark.parametrize(
    ("kind", "parameters", "stock_code"),
    [
        ("elect_master", {"broker_id": 3}, 2012),
        ("forget_replicas", {"broker_ids": [1]}, 2009),
        ("forget_replicas", {}, 2009),
        ("adopt_replicas", {"broker_ids": [7]}, 2005),
    ],
)
async def test_a_blocked_plan_shows_why_and_is_not_carried_out(
    plan, act, kind, parameters, stock_code
):
    planned = await plan(kind, **parameters)

    told = await act(planned, "confirm", LOSS, status=409)

    assert planned["plan"]["checks"][-1]["verdict"] == "block"
    assert told["code"] == "plan_blocked"
    assert told["facts"]["stock_code"] == stock_code


@pytest.mark.usefixtures("f3")
@pytest.mark.parametrize(
    ("parameters", "title"),
    [
        ({"broker_id": 3}, "Ask the present master to hand over, then elect broker 3"),
        ({}, "Elect a master"),
    ],
)
async def test_steps_of_an_election_without_a_winner_say_what_was_asked_for(
    plan, driver, parameters, title
):
    driver.heartbeat_source.heard = {i: ReplicaReport(20_000, 10_000) for i in (1, 2, 3)}

    planned = await plan("elect_master", **parameters)

    assert planned["plan"]["checks"][0]["verdict"] == "block"
    assert planned["steps"][0]["title"] == title


@pytest.mark.usefixtures("f3")
async def test_without_a_choice_a_living_master_stays(client, plan, act, carry_out):
    planned = await plan("elect_master")
    await act(planned, "confirm", REASON)
    await carry_out()

    assert planned["plan"]["facts"]["is_unchanged"] is True
    assert (await client.get(f"{OPS}/{planned['id']}")).json()["state"] == "done"
    assert (await client.get(G)).json()["master_epoch"] == 1


@pytest.mark.usefixtures("f3")
async def test_forgetting_waits_ten_seconds_in_which_it_can_be_cancelled(
    client, plan, act, carry_out, database, context
):
    first = await plan("forget_replicas", broker_ids=[3])
    refused = await act(first, "confirm", REASON, status=422)
    await act(first, "confirm", LOSS)
    assert context.task_queue.sent == []
    cancelled = await act(first, "cancel")
    second = await plan("forget_replicas", broker_ids=[3])
    held = await act(second, "confirm", LOSS)
    async with database.begin() as connection:
        await connection.execute(update(operations).values(not_before=context.clock.now()))
    context.task_queue.sent = [("operation.run", second["id"])]
    await carry_out()

    assert "accept the loss: what only {3} hold" in refused["detail"]
    assert cancelled["state"] == "cancelled"
    assert held["not_before"] > held["confirmed_at"]
    group = (await client.get(G)).json()
    assert ([r["broker_id"] for r in group["replicas"]], group["retired_ids"]) == ([1, 2], [3])
    done = await act(second, "undo", status=409)
    assert done["code"] == "not_undoable"


@pytest.mark.usefixtures("f3")
async def test_who_may_only_look_orders_nothing(client, ask, plan, demote):
    planned = await plan("elect_master", broker_id=2)
    await demote()

    await plan("elect_master", status=403)
    for verb in ("confirm", "pause", "resume", "cancel", "retry", "undo", "replan"):
        answer = await client.post(f"{OPS}/{planned['id']}/{verb}", json={})
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    mutation = "mutation ($id: ID!) { cancelOperation(id: $id) { state } }"
    [error] = (await ask(mutation, errors=True, id=planned["id"]))["errors"]

    assert error["extensions"]["code"] == "forbidden"
    assert (await client.get(f"{OPS}/{planned['id']}")).json()["state"] == "planned"


@pytest.fixture
async def lost(driver):
    """Two brokers claim ids of a group that is not known; 1 serves as master."""
    for broker_id in (1, 2):
        address = f"10.0.0.{broker_id}:10911"
        told = RegisterReplica("c", "g", broker_id, address, f"{address};1", 5, 900, 1)
        with pytest.raises(AdoptionAwaited):
            await register(told, driver.controller)


@pytest.mark.usefixtures("lost")
async def test_a_lost_group_is_adopted(client, plan, act, carry_out, monkeypatch):
    monkeypatch.setattr("backend.operations.actions.replica_groups.MASTER_PATIENCE_S", 0)
    doubtful = await plan("adopt_replicas", broker_ids=[2])
    planned = await plan("adopt_replicas", broker_ids=[1, 2])
    await act(planned, "confirm", REASON)
    await carry_out()

    assert "follows 1" in doubtful["plan"]["checks"][0]["why"]
    group = (await client.get(G)).json()
    assert (group["master_id"], group["sync_state_set"]) == (None, [1])
    assert group["master_epoch"] > 5
    # No broker can be elected in this test, and the answer says so.
    adopted = (await client.get(f"{OPS}/{planned['id']}")).json()
    assert (adopted["state"], adopted["outcome"]) == ("partly", "not as intended: master")
    assert (await client.get(V1 + "/adoption-candidates")).json()["items"] == []


@pytest.mark.usefixtures("f3")
async def test_lists_go_on_where_a_page_ended(client, plan):
    ids = [(await plan("elect_master", broker_id=2))["id"] for _ in range(3)]

    first = (await client.get(OPS, params={"limit": 2})).json()
    rest = (await client.get(OPS, params={"limit": 2, "after": first["next"]})).json()
    none = (await client.get(OPS, params={"state": "done"})).json()

    found = [item["id"] for item in first["items"] + rest["items"]]
    assert (sorted(found), first["total_count"], rest["next"]) == (sorted(ids), 3, None)
    assert none["items"] == []


@pytest.mark.usefixtures("f3")
async def test_what_may_lose_data_is_confirmed_by_admins_only(client, context, plan, act):
    """R3 takes an admin, R2 an operator (D26)."""
    operator = await make_credentials(context, "token", Role.OPERATOR)
    lossy, plain = await plan("forget_replicas", broker_ids=[3]), await plan("elect_master")

    refused = await client.post(f"{OPS}/{lossy['id']}/confirm", json=LOSS, headers=operator)
    taken = await client.post(f"{OPS}/{plain['id']}/confirm", json=REASON, headers=operator)

    assert (refused.status_code, taken.status_code) == (403, 200)
    assert "an admin confirms it" in refused.text
    assert (await client.get(f"{OPS}/{lossy['id']}")).json()["state"] == "planned"
    assert (await act(lossy, "confirm", LOSS))["state"] == "queued"
