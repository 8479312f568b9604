"""What clusters took in and gave out lately, through the doors."""

from datetime import datetime

import pytest
from msgspec.structs import replace

from backend.services.samples.rate_history import note_rates
from tests.unit.tasks.test_sample_rates import sample

FIELDS = "observedAt messagesInPerSecond messagesOutPerSecond bytesInPerSecond bytesOutPerSecond"


@pytest.fixture
async def noted(redis, context, register):
    """Note a round in which two clusters take in messages; give its time, in milliseconds."""
    for cluster in ("east", "west"):
        await register(cluster=cluster)
    now_ms = context.clock.now_ms()
    east = replace(sample(messages_in_per_second=2.5), cluster_name="east")
    west = replace(east, cluster_name="west", messages_in_per_second=4.0)
    await note_rates(redis, [east, west], at_ms=now_ms)
    return now_ms


async def test_rates_are_answered_for_one_cluster_or_of_all_over_rest(client, noted):
    together = (await client.get("/api/v1/rates")).json()
    (of_one,) = (await client.get("/api/v1/rates?cluster=west&minutes=5")).json()

    assert [point["messages_in_per_second"] for point in together] == [6.5]
    at = datetime.fromisoformat(of_one.pop("observed_at"))
    assert round(at.timestamp() * 1000) == noted
    assert of_one == {
        "messages_in_per_second": 4.0,
        "messages_out_per_second": None,
        "bytes_in_per_second": None,
        "bytes_out_per_second": None,
    }


async def test_rates_are_answered_by_the_graph(client, noted):
    query = f'{{ all: rates {{ {FIELDS} }} one: rates(clusterName: "west") {{ {FIELDS} }} }}'

    answer = (await client.post("/graphql", json={"query": query})).json()["data"]

    assert noted
    found = [[point["messagesInPerSecond"] for point in answer[name]] for name in ("all", "one")]
    assert found == [[6.5], [4.0]]
    assert answer["one"][0]["bytesOutPerSecond"] is None


@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        ("cluster=nowhere", 404, "cluster_not_found"),
        ("cluster=%20", 400, "invalid_name"),
        ("minutes=0", 422, "invalid_input"),
        ("minutes=1441", 422, "invalid_input"),
        ("minutes=soon", 422, "invalid_input"),
    ],
)
async def test_what_is_not_kept_is_refused_over_rest(client, register, asked, status, code):
    await register()

    answer = await client.get(f"/api/v1/rates?{asked}")

    assert (answer.status_code, answer.json()["code"]) == (status, code)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ('clusterName: "nowhere"', "not_found"),
        ("minutes: 0", "invalid_input"),
        ("minutes: 1441", "invalid_input"),
    ],
)
async def test_what_is_not_kept_is_refused_in_the_graph(client, register, arguments, code):
    await register()
    query = f"{{ rates({arguments}) {{ observedAt }} }}"

    answer = (await client.post("/graphql", json={"query": query})).json()

    assert [error["extensions"]["code"] for error in answer["errors"]] == [code]
