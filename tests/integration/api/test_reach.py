"""Door x cluster: a user of some clusters gets no answer about others, through any door (I23,
G13)."""

import asyncio
import functools
import json
from contextlib import aclosing

import pytest
from websockets.asyncio.client import connect

from backend.api.app import print_openapi
from backend.api.followed_events import follow_events
from backend.domain.event import EventFilter
from backend.domain.user import Role
from tests.access_table import graph_doors, rest_doors
from tests.integration.api.access import TOKENS, USERS, fill
from tests.integration.api.event_clients import new_event, write
from tests.integration.api.ordering import OPS
from tests.integration.api.reach_world import (
    FAR,
    NEAR,
    PATTERNS,
    add_report,
    every_question,
    fill_cluster,
    names_of,
)
from tests.integration.api.test_access_matrix import ENDING, question
from tests.long_form import few
from tests.waiting import PATIENCE_S

KINDS = ("session", "token")
NO_ID = "00000000-0000-0000-0000-000000000000"
TOKEN = {"name": "ci", "role": "viewer", "lifetime_days": 1}
TOKEN |= {"cluster_patterns": ["*-1", "hidden-*"]}
TELLING = {
    *("adoption-candidates", "audit", "audit/export", "capacity/reports/{report_id}", "clusters"),
    *("events", "findings", "health", "locks", "operations", "operations/{operation_id}"),
    "topics/{topic_name}/clusters",
}
"""Routes that are limited to clusters and must answer about the reached one, or nothing was
shown."""
SHOWING = {
    *("adoptionCandidates", "auditEntries", "capacityReport", "capacityReports", "cluster"),
    *("clusters", "events", "findings", "health", "holdingClusters", "locks", "operation"),
    *("operations", "overview"),
}
NEEDED = {"key": "k", "consumer_group_name": "g", "client": "c", "topic": "t", "queue_id": 0}
"""What routes of clusters take beside what they name; they leave out what they do not know."""
REFUSED = ("{cluster_name}", "{operation_id}")
"""What routes name that is refused when it is out of reach; others leave out what is."""


@pytest.fixture
async def world(client, context, driver, register, sample):
    """Give the names of what is within reach, and of what is not."""
    report_id = await add_report(context, [FAR, NEAR])
    tools = {"client": client, "context": context, "driver": driver}
    operations = [
        await fill_cluster(name, **tools, register=register, sample=sample) for name in (NEAR, FAR)
    ]
    near, far = operations
    return names_of(NEAR, near, report_id), names_of(FAR, far, report_id)


@functools.cache
def described_paths():
    """Describe all routes once, in the one process that runs these tests."""
    return json.loads(print_openapi())["paths"]


def needed(path):
    """Give what a route must be asked with; what it does not know is refused."""
    described = described_paths()[path]["get"]
    known = {one["name"] for one in described.get("parameters", ())}
    return {name: value for name, value in NEEDED.items() if name in known}


def filled(path, names):
    for name, value in names.items():
        path = path.replace(f"{{{name}}}", str(value))
    return fill(path)


@pytest.mark.parametrize("kind", few(KINDS, 1))
async def test_no_route_answers_about_a_cluster_out_of_reach(bare_client, credentials, world, kind):
    near, far = world
    headers = await credentials(kind, Role.ADMIN, patterns=PATTERNS)
    wrong, told = {}, set()

    for door in rest_doors():
        if door.method != "GET":
            continue
        query = needed(door.name)
        here = await bare_client.get(filled(door.name, near), params=query, headers=headers)
        if (here.status_code == 403) is not (door.reach == "all") or FAR in here.text:
            wrong[door.text] = here.text
        if NEAR in here.text:
            told.add(door.name.removeprefix("/api/v1/"))
        there = await bare_client.get(filled(door.name, far), params=query, headers=headers)
        is_open = door.reach in {"own", "control plane"}
        is_open |= not any(one in door.name for one in REFUSED)
        if ((there.status_code == 403) is is_open and door.reach != "all") or FAR in there.text:
            wrong[f"{door.text} there"] = there.text

    assert wrong == {}
    assert told >= TELLING
    assert len(told) > 15


@pytest.mark.parametrize("kind", KINDS)
async def test_a_list_is_not_asked_for_another_cluster(bare_client, credentials, world, kind):  # noqa: ARG001
    headers = await credentials(kind, Role.VIEWER, patterns=PATTERNS)
    asked = ("audit", "audit/export", "findings", "locks", "operations")
    paths = [f"/api/v1/{path}?cluster_name={FAR}" for path in asked]
    paths += [f"/api/v1/operations?cluster_name={NEAR}&cluster_name={FAR}"]
    paths += [f"/api/v1/{path}?cluster={FAR}" for path in ("events", "rates")]

    answers = [await bare_client.get(path, headers=headers) for path in paths]

    assert [answer.status_code for answer in answers] == [403] * len(paths)
    assert not any(FAR in answer.text for answer in answers)


@pytest.mark.parametrize("kind", few(KINDS, 1))
async def test_no_field_answers_about_a_cluster_out_of_reach(bare_client, credentials, world, kind):
    near, far = world
    headers = await credentials(kind, Role.ADMIN, patterns=PATTERNS)
    reach = {door.name: door.reach for door in graph_doors() if door.method == "query"}
    wrong, told = {}, set()

    for cluster, names in ((NEAR, near), (FAR, far)):
        for name, query in every_question(names).items():
            answer = await bare_client.post("/graphql", json={"query": query}, headers=headers)
            errors = answer.json().get("errors", [])
            codes = {one["extensions"].get("code") for one in errors}
            names_far = cluster == FAR and (reach[name] == "named" or name == "operation")
            if ("forbidden" in codes) is not (names_far or reach[name] == "all"):
                wrong[name, cluster] = answer.text
            if FAR in answer.text or codes & {None, "invalid_input", "internal"}:
                wrong[name, cluster] = answer.text
            if NEAR in answer.text:
                told.add(name)

    assert wrong == {}
    assert told >= SHOWING


async def test_counts_are_of_what_is_within_reach(bare_client, credentials, world):  # noqa: ARG001
    headers = await credentials("session", Role.VIEWER, patterns=PATTERNS)
    asked = (
        "{ overview { clusterCount brokerGroupCount brokerCount onlineBrokerCount topicCount }"
        " clusters { totalCount } auditEntries { totalCount } operations { totalCount }"
        " findings { totalCount } adoptionCandidates { totalCount } }"
    )
    everybody = await credentials("session", Role.VIEWER)

    limited, whole = [
        (await bare_client.post("/graphql", json={"query": asked}, headers=who)).json()["data"]
        for who in (headers, everybody)
    ]

    def counts(data):
        return [count for part in data.values() for count in part.values()]

    # Two replicas of each cluster are known to its controller alone, and count as brokers.
    assert counts(limited) == [1, 1, 3, *[1] * 7]
    assert counts(whole) == [2, 2, 6, *[2] * 7]


@pytest.mark.parametrize("kind", KINDS)
async def test_no_operation_of_another_cluster_is_ordered_or_steered(
    client, bare_client, credentials, world, kind
):
    near, far = world
    headers = await credentials(kind, Role.ADMIN, patterns=PATTERNS)
    order = (await client.get(f"{OPS}/{far['operation_id']}")).json()["parameters"]
    before = (await client.get(f"{OPS}/{far['operation_id']}")).json()
    refused = {}

    async def ask(text, method, path, body):
        answer = await bare_client.request(method, path, json=body, headers=headers)
        told = answer.json()
        codes = {one["extensions"]["code"] for one in told.get("errors", [])}
        refused[text] = answer.status_code == 403 or codes == {"forbidden"}

    await ask("plan", "POST", OPS, {"kind": "elect_master", "parameters": order})
    for door in rest_doors():
        if "{operation_id}" in door.name:
            await ask(door.text, door.method, filled(door.name, far), {})
    for door in graph_doors():
        if door.method == "mutation" and door.name.endswith("Operation"):
            query = question(door).replace(NO_ID, far["operation_id"]).replace("nobody", FAR)
            await ask(door.text, "POST", "/graphql", {"query": query})

    assert {text for text, is_refused in refused.items() if not is_refused} == set()
    assert len(refused) > 17
    assert (await client.get(f"{OPS}/{far['operation_id']}")).json() == before
    cancelled = await bare_client.post(f"{OPS}/{near['operation_id']}/cancel", headers=headers)
    assert cancelled.json()["state"] == "cancelled"


async def test_an_administrator_of_some_clusters_changes_no_access(
    client,
    bare_client,
    credentials,
    world,  # noqa: ARG001
):
    headers = await credentials("session", Role.ADMIN, patterns=PATTERNS)
    name = (await bare_client.get("/api/v1/session", headers=headers)).json()["name"]
    refused = set()

    for door in rest_doors():
        if "/users" in door.name and door.name not in ENDING:
            path = door.name.replace("{user_name}", name)
            answer = await bare_client.request(door.method, path, json={}, headers=headers)
            refused |= {door.text} if answer.status_code == 403 else set()
    others = await bare_client.get("/api/v1/sessions?user_name=admin", headers=headers)
    listed = await bare_client.get("/api/v1/sessions", headers=headers)

    assert len(refused) == 7
    assert others.status_code == 404
    assert {one["user_name"] for one in listed.json()["items"]} == {name}
    assert (await client.get(USERS)).status_code == 200


async def test_a_user_is_limited_shown_so_and_let_loose_again(client, bare_client, credentials):
    headers = await credentials("session", Role.OPERATOR)
    name = (await bare_client.get("/api/v1/session", headers=headers)).json()["name"]
    secret = (await bare_client.post(TOKENS, json=TOKEN, headers=headers)).json()["secret"]
    token = {"Authorization": f"Bearer {secret}"}
    path = f"{USERS}/{name}/role"

    limited = await client.put(
        path, json={"role": "operator", "cluster_patterns": ["east-*"], "reason": "theirs"}
    )
    own, by_token = [
        (await bare_client.get("/api/v1/session", headers=who)).json()["cluster_limits"]
        for who in (headers, token)
    ]
    kept = await client.put(path, json={"role": "viewer"})
    loose = await client.put(path, json={"role": "viewer", "cluster_patterns": ["a", "*"]})
    audited = (await client.get("/api/v1/audit")).json()["items"]

    assert limited.json()["cluster_patterns"] == ["east-*"]
    assert (own, by_token) == ([["east-*"]], [["east-*"], ["*-1", "hidden-*"]])
    assert (kept.json()["role"], kept.json()["cluster_patterns"]) == ("viewer", ["east-*"])
    assert loose.json()["cluster_patterns"] == ["*"]
    details = [one["details"] for one in audited if one["action"] == "user.change_role"]
    assert [one["after"] for one in details] == [
        {"role": "viewer", "clusters": ["*"]},
        {"role": "viewer", "clusters": ["east-*"]},
        {"role": "operator", "clusters": ["east-*"]},
    ]
    assert details[-1]["before"] == {"role": "operator", "clusters": ["*"]}


@pytest.mark.parametrize("patterns", [[], ["a/b"], ["*"] * 21, ["[a-z]"]])
async def test_patterns_that_mean_nothing_are_refused_by_both_doors(client, ask, patterns):
    body = {"name": "anna", "role": "viewer", "cluster_patterns": patterns}
    query = (
        "mutation ($patterns: [String!]!) {"
        ' addUser(name: "anna", role: VIEWER, clusterPatterns: $patterns) { password } }'
    )

    added = await client.post(USERS, json=body)
    answer = await ask(query, errors=True, patterns=patterns)

    assert added.status_code in {400, 422}
    assert answer["errors"][0]["extensions"]["code"] == "invalid_input"
    assert len((await client.get(USERS)).json()["items"]) == 1


async def test_the_last_administrator_of_all_clusters_is_not_limited(client):
    await client.post(USERS, json={"name": "anna", "role": "admin", "cluster_patterns": ["east-*"]})

    answer = await client.put(
        f"{USERS}/admin/role", json={"role": "admin", "cluster_patterns": ["east-*"]}
    )

    assert (answer.status_code, answer.json()["code"]) == (409, "last_administrator")


@pytest.mark.usefixtures("bootstrap_user")
@pytest.mark.parametrize("kind", KINDS)
async def test_who_follows_hears_of_clusters_within_reach_alone(
    served, credentials, database, sample, kind
):
    headers = await credentials(kind, Role.VIEWER, patterns=PATTERNS)
    subscriptions = {
        "events": "subscription { events(after: 0) { clusterName subject } }",
        "samples": "subscription { samples { clusterName } }",
        "refused": f'subscription {{ samples(clusterName: "{FAR}") {{ clusterName }} }}',
    }
    heard = {name: [] for name in subscriptions}
    options = {"subprotocols": ["graphql-transport-ws"], "additional_headers": headers}

    async with connect(
        f"ws://127.0.0.1:{served}/graphql", origin=f"http://127.0.0.1:{served}", **options
    ) as socket:
        await socket.send('{"type": "connection_init"}')
        await socket.recv()
        for name, query in subscriptions.items():
            body = {"id": name, "type": "subscribe", "payload": {"query": query}}
            await socket.send(json.dumps(body))
        await write(database, *(new_event(cluster=cluster) for cluster in (FAR, NEAR, FAR, NEAR)))
        async with asyncio.timeout(PATIENCE_S):
            while len(heard["events"]) < 2 or not heard["samples"] or not heard["refused"]:
                # Without a subscriber a sample is lost, so samples are sent until one is received.
                await sample(cluster=FAR)
                await sample(cluster=NEAR)
                message = json.loads(await socket.recv())
                heard[message["id"]].append(json.dumps(message["payload"]))

    assert not any(FAR in told for told in heard["events"] + heard["samples"])
    assert "forbidden" in heard["refused"][0]


async def test_a_subscriber_whose_reach_shrinks_receives_no_more(
    client, bare_client, credentials, context, database, monkeypatch
):
    monkeypatch.setattr("backend.api.credential_watch.CHECK_INTERVAL_MS", 0)
    headers = await credentials("session", Role.VIEWER)
    name = (await bare_client.get("/api/v1/session", headers=headers)).json()["name"]
    token, told = headers["Cookie"].partition("=")[2], []

    async with (
        aclosing(follow_events(context, token, after=0, chosen=EventFilter())) as batches,
        asyncio.timeout(PATIENCE_S),
    ):
        await anext(batches)
        limited = {"role": "viewer", "cluster_patterns": list(PATTERNS)}
        answer = await client.put(f"{USERS}/{name}/role", json=limited)
        await write(database, *(new_event(cluster=cluster) for cluster in (FAR, NEAR)))
        while NEAR not in told:
            told += [event.cluster_name for event in (await anext(batches)).events]

    assert answer.status_code == 200
    assert told == [NEAR]
