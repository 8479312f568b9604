"""Lists of groups under a controller over REST and in the graph: pages, and a part of the name."""

from backend.api.graphql.context import TURN_COUNT
from backend.services.controller.replica_groups import list_changes

V1 = "/api/v1"


async def test_groups_are_listed_page_by_page_by_both_doors(client, ask, driver):
    for name in ("g3", "g1", "g2"):
        await driver.apply(1, group=name)

    first = (await client.get(f"{V1}/clusters/c/replica-groups", params={"limit": 2})).json()
    after = {"limit": 2, "after": first["next"]}
    second = (await client.get(f"{V1}/clusters/c/replica-groups", params=after)).json()
    data = await ask(
        "query ($after: String) { clusters { nodes { replicaGroups(first: 2, after: $after)"
        " { totalCount pageInfo { hasNextPage endCursor } nodes { name masterId } } } } }",
        after=first["next"],
    )

    assert [group["name"] for group in first["items"] + second["items"]] == ["g1", "g2", "g3"]
    assert (first["total_count"], second["next"]) == (3, None)
    [cluster] = data["clusters"]["nodes"]
    assert cluster["replicaGroups"] == {
        "totalCount": 3,
        "pageInfo": {"hasNextPage": False, "endCursor": None},
        "nodes": [{"name": "g3", "masterId": None}],
    }


async def test_groups_are_searched_by_a_part_of_their_name_by_both_doors(client, ask, driver):
    for name in ("orders-a", "Orders_b", "billing"):
        await driver.apply(1, group=name)
    path = f"{V1}/clusters/c/replica-groups"

    found = (await client.get(path, params={"search": "ORD", "limit": 1})).json()
    literal = (await client.get(path, params={"search": "s_"})).json()
    data = await ask(
        '{ cluster(name: "c") { replicaGroups(search: "ORD") { totalCount nodes { name } } } }'
    )

    assert (len(found["items"]), found["total_count"]) == (1, 2)
    assert [group["name"] for group in literal["items"]] == ["Orders_b"]
    groups = data["cluster"]["replicaGroups"]
    assert groups["totalCount"] == 2
    assert {group["name"] for group in groups["nodes"]} == {"orders-a", "Orders_b"}


async def test_histories_of_many_groups_are_read_few_at_a_time(ask, driver, monkeypatch):
    for number in range(6):
        await driver.apply(1, group=f"g{number}")
    going, most = 0, 0

    async def counted(*arguments, **named):
        nonlocal going, most
        going, most = going + 1, max(most, going + 1)
        try:
            return await list_changes(*arguments, **named)
        finally:
            going -= 1

    monkeypatch.setattr("backend.api.graphql.replica_groups.list_changes", counted)
    data = await ask(
        '{ cluster(name: "c") { replicaGroups { nodes { a: changes { totalCount }'
        " b: changes(first: 1) { totalCount } } } } }"
    )

    assert len(data["cluster"]["replicaGroups"]["nodes"]) == 6
    assert most == TURN_COUNT


async def test_a_broker_group_shows_that_a_controller_elects_its_master(ask, driver):
    await driver.apply(1)

    data = await ask('{ cluster(name: "c") { brokerGroups { nodes { name mode } } } }')

    assert data["cluster"]["brokerGroups"]["nodes"] == [{"name": "g", "mode": "CONTROLLER"}]
