"""The audit is searched by who, what, on what and when, over each door alike (G22)."""

from datetime import timedelta

import pytest

from backend.db.audit import AuditedAction
from backend.domain.operation import Author
from backend.services.access import audit
from tests.integration.api.ordering import V1

AUDIT = f"{V1}/audit"
GRAPH = """query (
  $actor: String, $action: String, $search: String, $begin: DateTime, $end: DateTime
) {
  auditEntries(actor: $actor, action: $action, search: $search, begin: $begin, end: $end) {
    nodes { number } totalCount } }"""
DEEDS = [
    ("anna", "operation.planned", "elect_master broker-a"),
    ("anna", "operation.queued", "elect_master broker-a"),
    ("worker", "step.done", "elect_master broker-a"),
    ("bela", "operation.planned", "create_topic 100%_orders"),
    ("bela", "operations_of_old", "create_topic orders"),
]


@pytest.fixture
async def times(context):
    """Enter deeds a minute apart, and give when each was."""

    class Minutes:
        def __init__(self):
            self.at = context.clock.now()

        def now(self):
            self.at += timedelta(minutes=1)
            found.append(self.at)
            return self.at

    found, clock = [], Minutes()
    for actor, action, subject in DEEDS:
        audited = AuditedAction(Author(actor, "test"), action, "c", subject, {})
        await audit.enter(audited, database=context.database, clock=clock)
    return found


SEARCHES = [
    ({"action": "operation"}, [4, 2, 1]),
    ({"action": "operation.planned"}, [4, 1]),
    ({"action": "operation.plan"}, []),
    ({"search": "BROKER-a"}, [3, 2, 1]),
    ({"search": "100%_"}, [4]),
    ({"actor": "anna", "action": "operation.queued"}, [2]),
    ({"begin": 1}, [5, 4, 3, 2]),
    ({"end": 1}, [1]),
    ({"begin": 1, "end": 3, "search": "broker"}, [3, 2]),
]


@pytest.mark.parametrize(("chosen", "numbers"), SEARCHES)
async def test_a_search_finds_what_is_meant_and_nothing_else(client, ask, times, chosen, numbers):
    given = {
        name: times[value].isoformat() if isinstance(value, int) else value
        for name, value in chosen.items()
    }

    listed = (await client.get(AUDIT, params=given)).json()
    exported = (await client.get(f"{AUDIT}/export", params=given)).text.splitlines()
    graph = (await ask(GRAPH, **given))["auditEntries"]

    assert [one["number"] for one in listed["items"]] == numbers
    assert (listed["total_count"], graph["totalCount"]) == (len(numbers), len(numbers))
    assert [int(one["number"]) for one in graph["nodes"]] == numbers
    assert len(exported) == len(numbers)


async def test_a_search_that_makes_no_sense_is_refused(client, times):
    assert times
    for given in ({"action": "a b"}, {"begin": "yesterday"}, {"search": "\x00"}):
        assert (await client.get(AUDIT, params=given)).status_code == 422
