"""Answer the lease heartbeats of members that serve share queues; ours (4102)."""

from typing import Final

from msgspec import UNSET

from backend.domain.share_incident import ReportedIncident
from backend.domain.share_lease import (
    LEASE_TERMS,
    HeldLease,
    LeaseHeartbeat,
    Member,
    Wish,
)
from backend.domain.share_queue import ShareQueueName
from backend.nameserver.answer import Answer
from backend.nameserver.directory import Directory
from backend.remoting import java_json
from backend.remoting.bodies.share_leases import (
    LeaseDecisionsBody,
    LeaseHeartbeatBody,
    ShareIncidentBody,
    ShareLeaseBody,
    ShareQueueBody,
)
from backend.remoting.command import Command
from backend.remoting.headers import ShareLeaseHeader, decode_header
from backend.rules.share_incident import IncidentKind
from backend.services.share_queue.incidents import record_incidents
from backend.services.share_queue.leases import arbitrate_leases

_KINDS: Final = frozenset(IncidentKind)


async def on_share_lease(command: Command, _session: object, directory: Directory) -> Answer:
    """Renew, grant and revoke the leases of one member, and record its incidents."""
    header = decode_header(ShareLeaseHeader, command.ext)
    body = java_json.decode(command.body or b"{}", LeaseHeartbeatBody)
    heartbeat = LeaseHeartbeat(
        Member(header.broker_id, header.life),
        held={_name(one): HeldLease(one.epoch, one.has_messages) for one in body.held},
        wanted={_name(one): Wish(one.known_epoch, one.has_messages) for one in body.wanted},
        released={_name(one): one.epoch for one in body.released},
    )
    decided = await arbitrate_leases(
        heartbeat,
        header.cluster_name,
        header.broker_name,
        database=directory.controller.database,
    )
    if body.incidents is not UNSET:
        await record_incidents(
            [_incident(one) for one in body.incidents if _is_known(one)],
            heartbeat.member,
            header.cluster_name,
            header.broker_name,
            database=directory.controller.database,
        )
    decisions = LeaseDecisionsBody(
        ttl_ms=int(LEASE_TERMS.ttl.total_seconds() * 1000),
        granted=[_lease(name, epoch) for name, epoch in decided.granted.items()],
        revoked=[_queue(name) for name in decided.revoked],
        awaited=[_queue(name) for name in decided.awaited],
    )
    return Answer(body=java_json.encode(decisions))


def _name(body: ShareQueueBody) -> ShareQueueName:
    return ShareQueueName(body.topic, body.queue_id, body.consumer_group)


def _is_known(body: ShareIncidentBody) -> bool:
    """Return whether an incident can be recorded; kinds of a later release are left out."""
    return body.kind in _KINDS and (body.kind != IncidentKind.MESSAGES_LOST or bool(body.topic))


def _incident(body: ShareIncidentBody) -> ReportedIncident:
    """Read an incident; one of a whole topic is the same whether a name is empty or absent."""
    is_of_queue = body.queue_id is not None and body.queue_id >= 0
    return ReportedIncident(
        IncidentKind(body.kind),
        body.epoch,
        lane=body.lane,
        position=body.position,
        topic=body.topic,
        queue_id=body.queue_id if is_of_queue else None,
        consumer_group_name=body.consumer_group or None,
        reason=body.reason,
    )


def _queue(name: ShareQueueName) -> ShareQueueBody:
    return ShareQueueBody(
        topic=name.topic,
        queue_id=name.queue_id,
        consumer_group=name.consumer_group_name,
    )


def _lease(name: ShareQueueName, epoch: int) -> ShareLeaseBody:
    return ShareLeaseBody(
        topic=name.topic,
        queue_id=name.queue_id,
        consumer_group=name.consumer_group_name,
        epoch=epoch,
    )
