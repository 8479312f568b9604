"""Two clusters that hold the same of everything, and requests that ask for all of it.

All data of a cluster contains the cluster's name, so every answer about it can be found.
"""

import json
from uuid import uuid4

from graphql import get_named_type, is_composite_type, is_required_argument
from sqlalchemy import insert

from backend.api.graphql.schema import build_schema
from backend.db import adoption_candidates, capacity_reports, logical_queues
from backend.db.capacity_reports import CapacityReportRow
from backend.db.maintenance_tables import findings
from backend.domain.adoption import Candidate
from backend.domain.logical_queue.mapping import LogicalQueue, QueueCounts, TopicMapping
from backend.domain.logical_queue.segment import QueueSegment
from backend.services.controller.group_changes import BrokerGroupName
from backend.services.upkeep.events import number_events
from tests.integration.api.ordering import OPS

NEAR, FAR = "east-7", "hidden-9"
PATTERNS = ("east-*",)
DEPTH_MAX = 5


def _static(group, topic):
    queue = LogicalQueue(0, (QueueSegment(0, group, 0),))
    return TopicMapping(topic, 1, (queue,), {group: QueueCounts(1, 1)})


async def fill_cluster(cluster, *, client, context, driver, register, sample):
    """Put something of every kind into a cluster; give the id of its operation."""
    group, topic = f"{cluster}-group", f"{cluster}-topic"
    await register(cluster=cluster, group=group, topics=[topic])
    for broker_id in (1, 2):
        await driver.apply(broker_id, cluster=cluster, group=group)
    driver.hear(1, 2)
    await driver.elect(1, name=BrokerGroupName(group, cluster))
    await sample(cluster=cluster, topic=topic)
    now, database = context.clock.now(), context.database
    finding = {"code": "two_masters", "cluster_name": cluster, "subject": group}
    finding |= {"evidence": {}, "first_evidence": {}, "suspected_at": now, "opened_at": now}
    async with database.begin() as connection:
        candidate = Candidate(2, f"{cluster}-2:10911", "code", 0)
        await adoption_candidates.save(connection, cluster, f"{cluster}-lost", candidate)
        await logical_queues.add(connection, cluster, _static(group, topic), at=now)
        await connection.execute(insert(findings).values(**finding))
    order = {"cluster_name": cluster, "broker_group_name": group, "broker_id": 2}
    body = {"kind": "elect_master", "parameters": order}
    planned = await client.post(OPS, json=body)
    assert planned.status_code == 201, planned.text
    while await number_events(database=database):
        pass
    return planned.json()["id"]


async def add_report(context, clusters):
    """Add a capacity report about disks of some clusters, and one that failed; give its id."""
    report_id, now = uuid4(), context.clock.now()
    rows = [
        CapacityReportRow("disk", name, f"{name}-group", 0, days_until_full=days)
        for days, name in enumerate(clusters, start=1)
    ]
    async with context.database.begin() as connection:
        await capacity_reports.add(
            connection, report_id, requested_at=now, requested_by="admin", parameters={}
        )
        await capacity_reports.finish(
            connection, report_id, at=now, result_path="", coverage={}, rows=rows
        )
        failed_id = uuid4()
        await capacity_reports.add(
            connection, failed_id, requested_at=now, requested_by="admin", parameters={}
        )
        missing = (
            f"1 files of the history are missing, the first is cluster={clusters[0]}/1.parquet"
        )
        await capacity_reports.fail(connection, failed_id, at=now, error=missing)
    return str(report_id)


def names_of(cluster, operation_id, report_id):
    """Give what paths and arguments name in a cluster, in the words of both doors."""
    names = {
        "cluster_name": cluster,
        "broker_group_name": f"{cluster}-group",
        "topic_name": f"{cluster}-topic",
        "topic": f"{cluster}-topic",
        "queue_id": 0,
        "operation_id": operation_id,
        "report_id": report_id,
        "broker_id": 1,
        "broker_name": f"{cluster}-group-1",
        "consumer_group_name": f"{cluster}-consumers",
        "client_id": "127.0.0.1@1",
        "client_ids": ["127.0.0.1@1"],
        "message_id": "7F00000100002A9F0000000000000000",
        "key": "a-key",
    }
    return names | {_camel(name): value for name, value in names.items()}


def every_question(names):
    """Ask for each field of the graph's queries, with all that it leads to."""
    roots = build_schema()._schema.query_type.fields
    return {name: _ask(name, field, names) for name, field in roots.items()}


def _ask(name, field, names):
    ids = {"capacityReport": names["report_id"], "operation": names["operation_id"]}
    given = names | {"name": names["cluster_name"], "id": ids.get(name, "")}
    return (
        f"{{ {name}{_arguments(field, given)} {_selection(field.type, names, DEPTH_MAX, (), {})} }}"
    )


def _arguments(field, names):
    needed = [one for one, told in field.args.items() if is_required_argument(told)]
    assert set(needed) <= set(names), f"say here what {needed} are"
    literals = [f"{one}: {json.dumps(names[one])}" for one in needed]
    return f"({', '.join(literals)})" if literals else ""


def _selection(kind, names, depth, above, asked):
    """Select all of a type; what it leads to only where no other place in the document did."""
    kind = get_named_type(kind)
    if not is_composite_type(kind):
        return ""
    leads_on = depth > asked.get(kind.name, 0)
    asked[kind.name] = max(depth, asked.get(kind.name, 0))
    parts = ["__typename"]
    for name, field in kind.fields.items():
        below = get_named_type(field.type)
        if is_composite_type(below) and (not leads_on or below.name in above):
            continue
        given = names | {"name": names["topic_name" if name == "topic" else "broker_group_name"]}
        chosen = _selection(below, names, depth - 1, (*above, kind.name), asked)
        parts.append(f"{name}{_arguments(field, given)} {chosen}")
    return "{ " + " ".join(parts) + " }"


def _camel(name):
    first, *rest = name.split("_")
    return first + "".join(one.capitalize() for one in rest)
