"""A static topic is written as a mapping file over both doors, and restored from it over one."""

import pytest

from tests.integration.api.agents.conftest import CLUSTER
from tests.integration.api.ordering import OPS
from tests.lost_rows import forget_rows

PATH = f"/clusters/{CLUSTER}/topics/bills/queue-mapping-file"
GRAPH = """{ queueMappingFile(clusterName: "c", topicName: "bills") {
  topicName epoch kind document } }"""
BILLS = {"topic_name": "bills"}


@pytest.fixture
def plan(client):
    """Plan an order that names no broker group."""

    async def ask(kind, **parameters):
        answer = await client.post(OPS, json={"kind": kind, "parameters": parameters})
        assert answer.status_code == 201, answer.text
        return answer.json()

    return ask


@pytest.mark.usefixtures("broker")
async def test_a_topic_is_restored_from_the_file_that_both_doors_show(get, ask, order, database):
    made = await order("create_static_topic", **BILLS, queue_count=3)
    assert made["state"] == "done", made

    found = await get(PATH)
    graph = (await ask(GRAPH))["queueMappingFile"]

    assert graph == {
        "topicName": "bills",
        "epoch": str(found["epoch"]),
        "kind": "CREATE_OR_UPDATE",
        "document": found["document"],
    }
    await forget_rows(database, "static_topics", "logical_queue_changes")
    await get(PATH, status=404)
    restored = await order("import_static_topic", **BILLS, document=found["document"])
    assert restored["state"] == "done", restored
    assert await get(PATH) == found
