"""Texts that Postgres can't hold are refused by every door, and no fault of ours."""

import json

import pytest

V1 = "/api/v1"
HALF = "\ud800"
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def ask_oddly(client):
    """Ask the graph with variables that only JSON's escapes can carry."""

    async def ask_graph(query, **variables):
        body = json.dumps({"query": query, "variables": variables})
        answer = (await client.post("/graphql", content=body, headers=JSON)).json()
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    return ask_graph


async def test_a_consumer_group_of_an_odd_name_is_bad_input(client, register):
    await register()

    answer = await client.get(f"{V1}/clusters/main/consumer-groups/a%00b")

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_input")


@pytest.mark.parametrize(
    "question",
    [
        '{ cluster(name: "main") { replicaGroup(name: "a\\u0000b") { name } } }',
        '{ consumerGroup(clusterName: "main", name: "a\\u0000b") { name } }',
    ],
)
async def test_an_odd_name_is_bad_input_in_the_graph(ask, register, question):
    await register()

    [told] = (await ask(question, errors=True))["errors"]

    assert told["extensions"]["code"] == "invalid_input"


async def test_half_a_character_finds_nothing(ask_oddly, register):
    await register()
    question = """query ($odd: String) {
      cluster(name: "main") {
        topics(search: $odd) { totalCount }
        replicaGroups(search: $odd) { totalCount }
      }
      consumerGroups(clusterName: "main", search: $odd) { totalCount }
      operations(search: $odd) { totalCount }
    }"""

    found = await ask_oddly(question, odd=HALF)

    nothing = {"totalCount": 0}
    assert found["cluster"] == {"topics": nothing, "replicaGroups": nothing}
    assert (found["consumerGroups"], found["operations"]) == (nothing, nothing)


async def test_no_name_holds_half_a_character(ask_oddly, stranger):
    found = await ask_oddly("query ($odd: String!) { user(name: $odd) { role } }", odd=HALF)
    credentials = json.dumps({"name": HALF, "password": "x"})
    answer = await stranger.post(f"{V1}/session", content=credentials, headers=JSON)

    assert found == {"user": None}
    assert answer.status_code == 422


async def test_an_origin_that_is_no_address_is_refused(stranger):
    credentials = {"name": "admin", "password": "correct horse"}

    signing_in = await stranger.post(
        f"{V1}/session", json=credentials, headers={"Origin": "http://["}
    )

    assert (signing_in.status_code, signing_in.json()["code"]) == (403, "forbidden")
