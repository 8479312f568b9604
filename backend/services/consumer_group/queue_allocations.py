"""Compute which client would read which queue of a topic, for each allocation rule."""

from collections.abc import Mapping, Sequence
from typing import Final

from backend.db.engine import Database
from backend.domain.errors import InvalidName
from backend.domain.logical_queue.route import synthetic_broker_name
from backend.domain.queue_allocation import AllocatedQueue, Allocation, AllocationRule, allocate
from backend.services.logical_queue.logical_queues import find_mappings
from backend.services.topic.topics import describe_topic, list_placements

CLIENT_COUNT_MAX: Final = 500
CLIENT_ID_LENGTH_MAX: Final = 255


async def compare_allocations(
    cluster_name: str, topic_name: str, client_ids: Sequence[str], *, database: Database
) -> Mapping[AllocationRule, Allocation]:
    """Deal the readable queues of a topic out among clients, by each rule.

    Raises:
        InvalidName: the name of the cluster, of the topic or of a client is invalid.
        ClusterNotFound: there is no such cluster. TopicNotFound: the cluster has no such topic.
    """
    if not 1 <= len(client_ids) <= CLIENT_COUNT_MAX:
        reason = f"names {len(client_ids)} clients; 1 to {CLIENT_COUNT_MAX} are dealt to"
        raise InvalidName(kind="list of clients", name="", reason=reason)
    for one in client_ids:
        if not 1 <= len(one) <= CLIENT_ID_LENGTH_MAX:
            raise InvalidName(kind="client", name=one[:100], reason="is empty or too long")
    topic = await describe_topic(cluster_name, topic_name, database=database)
    placements = (await list_placements([topic.id], database=database))[topic.id]
    key = cluster_name, topic_name
    mapping = (await find_mappings([key], database=database))[key]
    queues = [
        AllocatedQueue(one.broker_group_name, queue_id)
        for one in placements
        if one.settings.is_readable
        for queue_id in range(one.settings.read_queue_count)
    ]
    if mapping is not None:
        # Clients see the logical queues, all of one broker with a synthetic name.
        name = synthetic_broker_name(mapping.scope)
        queues = [AllocatedQueue(name, one.global_id) for one in mapping.queues]
    return {rule: allocate(queues, client_ids, rule) for rule in AllocationRule}
