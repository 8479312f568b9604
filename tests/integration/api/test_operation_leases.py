"""Who holds which operation is shown, and a worker that hangs loses it to the next (G6, D20)."""

from datetime import datetime
from uuid import UUID

import pytest

from backend.domain import operation_run
from backend.domain.operation import Author
from backend.domain.operation_errors import OperationFenced
from backend.domain.user import Role
from backend.operations.engine import journal
from backend.operations.engine.engine import LEASE
from tests.integration.api.ordering import OPS, REASON, V1

LEASES = f"{V1}/clusters/c/operation-leases"
GRAPH = """{ operationLeases(clusterName: "c") {
  nodes { operationId kind target confirmedBy step fence } totalCount } }"""
HANGING = Author("worker-1", "worker")


@pytest.fixture
async def held(f3, plan, act, context):  # noqa: ARG001 - the group that is changed
    """An operation that a worker has claimed, and hangs at; and what the worker can still do."""
    planned = await plan("elect_master", broker_id=2)
    await act(planned, "confirm", REASON)

    async def change(become):
        stores = {"database": context.database, "clock": context.clock}
        return await journal.change(UUID(planned["id"]), become, HANGING, **stores)

    claimed = await change(
        lambda one: operation_run.claim(one, at=context.clock.now(), lease=LEASE)
    )
    return claimed, change


async def test_a_lease_shows_which_operation_is_held_and_under_which_number(client, held, ask):
    claimed, _ = held

    [told] = (await client.get(LEASES)).json()["items"]
    graph = (await ask(GRAPH))["operationLeases"]

    assert (told["operation_id"], told["kind"]) == (str(claimed.id), "elect_master")
    assert (told["target"], told["confirmed_by"], told["fence"]) == ("g", "admin", claimed.fence)
    assert told["step"] == claimed.steps[0].title
    renewed_at, ends_at = (datetime.fromisoformat(told[at]) for at in ("renewed_at", "ends_at"))
    assert renewed_at < ends_at
    assert graph["totalCount"] == 1
    [node] = graph["nodes"]
    assert (node["operationId"], node["fence"]) == (told["operation_id"], str(told["fence"]))


@pytest.mark.parametrize(("patterns", "told"), [(("c",), "QUEUED"), (("d*",), None)])
async def test_who_reaches_the_cluster_only_breaks_a_lease_by_the_graph(
    held, bare_client, credentials, patterns, told
):
    claimed, _ = held
    headers = await credentials("token", Role.OPERATOR, patterns=patterns)
    query = f'mutation {{ breakOperationLease(id: "{claimed.id}") {{ state }} }}'

    answer = await bare_client.post("/graphql", json={"query": query}, headers=headers)

    data = answer.json()["data"]
    assert (data and data["breakOperationLease"]["state"]) == told


async def test_a_broken_lease_ends_what_its_worker_can_do_and_the_next_goes_on(
    client, held, context, carry_out, follow
):
    claimed, change = held
    follow(2)

    broken = await client.delete(f"{OPS}/{claimed.id}/lease")

    assert (broken.status_code, broken.json()["state"]) == (200, "queued")
    with pytest.raises(OperationFenced):
        await change(
            lambda one: operation_run.begin_step(
                one, 0, fence=claimed.fence, before=None, at=context.clock.now()
            )
        )
    assert (await client.get(LEASES)).json()["items"] == []
    await carry_out()
    assert (await client.get(f"{OPS}/{claimed.id}")).json()["state"] == "done"
    entries = (await client.get(f"{V1}/audit", params={"operation_id": str(claimed.id)})).json()
    [entry] = [one for one in entries["items"] if one["action"] == "operation.lease_broken"]
    assert (entry["actor"], entry["details"]["fence"] > claimed.fence) == ("admin", True)


@pytest.mark.usefixtures("f3")
async def test_an_operation_without_a_worker_has_no_lease_to_break(client, plan):
    planned = await plan("elect_master", broker_id=2)

    answer = await client.delete(f"{OPS}/{planned['id']}/lease")

    assert (answer.status_code, answer.json()["code"]) == (409, "operation_state_conflict")
