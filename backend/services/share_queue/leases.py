"""Grant, renew and revoke the leases of share queues (queue-ownership.md 4.6)."""

from collections.abc import Collection
from typing import Final

from backend.db import share_leases
from backend.db.engine import Database
from backend.db.pipeline import pipeline_of
from backend.domain.errors import (
    BrokerGroupBusy,
    BrokerGroupNotControlled,
    BrokerProcessUnknown,
    InvalidName,
    ShareSuccessorNotInSync,
)
from backend.domain.names import check_topic_name
from backend.domain.replica_group import UNKNOWN_LIFE
from backend.domain.share_lease import (
    LEASE_TERMS,
    Arbitration,
    LeaseHeartbeat,
    LeaseTerms,
    arbitrate,
)
from backend.domain.share_queue import ShareQueueName
from backend.rules.consumer_group import consumer_group_name_fault
from backend.services.controller.group_changes import BrokerGroupName

ATTEMPTS_MAX: Final = 16


async def arbitrate_leases(
    heartbeat: LeaseHeartbeat,
    cluster_name: str,
    broker_group_name: str,
    *,
    database: Database,
    terms: LeaseTerms = LEASE_TERMS,
) -> Arbitration:
    """Decide about the share queues of one heartbeat, and write what changes.

    Every process of the control plane may do it. If another one changed a lease meanwhile, all is
    decided again. That is harmless: a repeated request gets the same answer.

    Raises:
        InvalidName: a name is invalid. BrokerGroupNotControlled: no controller leads the broker
        group, so all its share queues are the master's. BrokerProcessUnknown: the last heartbeat of
        the broker is of another process. BrokerGroupBusy: other processes were faster in each
        attempt.
    """
    BrokerGroupName(broker_group_name, cluster_name)
    for name in heartbeat.names:
        check_topic_name(name.topic)
        fault = consumer_group_name_fault(name.consumer_group_name)
        if fault is not None:
            raise InvalidName(kind="consumer group", name=name.consumer_group_name, reason=fault)
    pipeline, broker_id = pipeline_of(database), heartbeat.member.broker_id
    for _ in range(ATTEMPTS_MAX):
        held = await share_leases.find(
            pipeline, cluster_name, broker_group_name, broker_id, heartbeat.names
        )
        if held is None:
            raise BrokerGroupNotControlled(broker_group_name)
        if held.known_life not in {UNKNOWN_LIFE, heartbeat.member.life}:
            raise BrokerProcessUnknown(broker_group_name, broker_id)
        decided = arbitrate(held.leases, heartbeat, held.standing, now=held.now, terms=terms)
        if not decided.changed or await share_leases.write(pipeline, held, decided.changed):
            return decided
    raise BrokerGroupBusy(broker_group_name)


async def hand_over_leases(
    names: Collection[ShareQueueName],
    cluster_name: str,
    broker_group_name: str,
    successor_id: int,
    *,
    database: Database,
    terms: LeaseTerms = LEASE_TERMS,
) -> None:
    """Have the owners of share queues give them back to a named member of their broker group.

    An owner learns of it with its next heartbeat (4102). The successor must ask for its leases
    within the time of one lease, or the next waiter gets the share queue.

    Raises:
        BrokerGroupNotControlled: no controller leads the broker group. ShareSuccessorNotInSync: the
        successor may not own share queues now. BrokerGroupBusy: other processes were faster in each
        attempt.
    """
    pipeline = pipeline_of(database)
    for _ in range(ATTEMPTS_MAX):
        held = await share_leases.find(
            pipeline, cluster_name, broker_group_name, successor_id, names
        )
        if held is None:
            raise BrokerGroupNotControlled(broker_group_name)
        if not held.standing.is_in_sync:
            raise ShareSuccessorNotInSync(broker_group_name, successor_id)
        until = held.now + terms.ttl
        changed = {
            name: after
            for name in names
            if (before := held.leases.get(name)) is not None
            and (after := before.handed_over(successor_id, until)) != before
        }
        if not changed or await share_leases.write(pipeline, held, changed):
            return
    raise BrokerGroupBusy(broker_group_name)
