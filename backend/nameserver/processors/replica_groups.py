"""Answer brokers and tools about ids, SyncStateSets and replicas (1001, 1003-1006, 1011-1013).

These wait for Postgres, so each is a coroutine. Every process of the control plane answers them,
and answers that it is the leading controller itself (D1).
"""

from typing import Final

import msgspec

from backend.domain.errors import BrokerIdRefused, InvalidName
from backend.domain.replica_group import FIRST_PROTOCOL_VERSION, ReplicaGroup, SyncStateSetProposal
from backend.nameserver.answer import Answer
from backend.nameserver.direct_orders import enter_order
from backend.nameserver.directory import Directory
from backend.operations.planning import groups
from backend.remoting import java_json
from backend.remoting.bodies import ReplicaBody, ReplicasBody, SyncStateData, SyncStateSetBody
from backend.remoting.command import Command
from backend.remoting.headers import (
    AlterSyncStateSetAnswer,
    AlterSyncStateSetHeader,
    ApplyBrokerIdHeader,
    CleanBrokerDataHeader,
    MasterHeader,
    NextBrokerIdAnswer,
    NextBrokerIdHeader,
    RegisterReplicaAnswer,
    RegisterReplicaHeader,
    ReplicaInfoHeader,
    decode_header,
    encode_header,
)
from backend.remoting.response_code import ResponseCode
from backend.services.controller import replica_groups
from backend.services.controller.group_changes import BrokerGroupName, GroupView

GROUPS_AT_ONCE_MAX: Final = 1_000
REFUSED_SHOWN_MAX: Final = 5


async def on_get_next_broker_id(command: Command, _session: object, directory: Directory) -> Answer:
    """Answer the id that a new broker may apply for."""
    header = decode_header(NextBrokerIdHeader, command.ext)
    name = BrokerGroupName(header.broker_name, header.cluster_name)
    broker_id = await replica_groups.find_next_broker_id(name, directory.controller)
    return Answer(ext=_next_id(header.cluster_name, header.broker_name, broker_id))


async def on_apply_broker_id(command: Command, _session: object, directory: Directory) -> Answer:
    """Assign an id; a refusal contains the id to apply for."""
    header = decode_header(ApplyBrokerIdHeader, command.ext)
    wish = replica_groups.ApplyBrokerId(
        cluster_name=header.cluster_name,
        broker_group_name=header.broker_name,
        broker_id=header.applied_broker_id,
        register_code=header.register_check_code,
        protocol_version=read_protocol_version(header.protocol_version),
    )
    try:
        await replica_groups.apply_for_broker_id(wish, directory.controller)
    except BrokerIdRefused as error:
        ext = _next_id(header.cluster_name, header.broker_name, error.next_broker_id)
        return Answer(ResponseCode.CONTROLLER_BROKER_ID_INVALID, ext=ext, remark=str(error))
    return Answer(ext=_next_id(header.cluster_name, header.broker_name, None))


async def on_register_replica(command: Command, _session: object, directory: Directory) -> Answer:
    """Record the address of a broker, and answer its group, with the master while it is alive."""
    header = decode_header(RegisterReplicaHeader, command.ext)
    view = await replica_groups.register(
        replica_groups.RegisterReplica(
            cluster_name=header.cluster_name,
            broker_group_name=header.broker_name,
            broker_id=header.broker_id,
            address=header.broker_address,
            register_code=header.register_check_code,
            epoch=header.epoch,
            max_offset=header.max_offset,
            master_id=header.known_master_id,
            is_verified=header.is_verified,
            protocol_version=_reported_version(header),
        ),
        directory.controller,
    )
    group = view.group
    # A lost master must not continue in its old epoch.
    is_usable = group.master_id in view.liveness.alive_ids and not group.is_master_lost
    master = master_header(group) if is_usable else MasterHeader()
    answer = RegisterReplicaAnswer(
        cluster_name=group.cluster_name,
        broker_name=group.name,
        master_broker_id=master.master_broker_id,
        master_address=master.master_address,
        master_epoch=master.master_epoch,
        sync_state_set_epoch=master.sync_state_set_epoch,
        lease_policy=master.lease_policy,
        loss_epoch=master.loss_epoch,
        protocol_version=_written_version(group),
    )
    return Answer(ext=encode_header(answer), body=encode_set(group))


async def on_get_replica_info(command: Command, session: object, directory: Directory) -> Answer:
    """Answer the master, alive or not, and the SyncStateSet."""
    header = decode_header(ReplicaInfoHeader, command.ext)
    name = _named(header.broker_name, None, session, directory)
    group = (await replica_groups.describe_group(name, directory.controller)).group
    answer = msgspec.structs.replace(master_header(group), sync_state_set_epoch=None)
    return Answer(ext=encode_header(answer), body=encode_set(group))


async def on_get_sync_state_data(command: Command, session: object, directory: Directory) -> Answer:
    """Answer the full state of some groups; unknown groups are left out.

    Raises:
        InvalidName: all of the names are invalid.
    """
    broker_group_names = java_json.decode(command.body, list[str]) if command.body else []
    if not broker_group_names:
        return Answer(ResponseCode.SYSTEM_ERROR, remark="not set any response code")
    names: list[BrokerGroupName] = []
    refused: list[InvalidName] = []
    for name in dict.fromkeys(broker_group_names[:GROUPS_AT_ONCE_MAX]):
        try:
            names.append(_named(name, None, session, directory))
        except InvalidName as error:
            refused.append(error)
    if not names:
        raise refused[0]
    remark = "; ".join(str(error) for error in refused[:REFUSED_SHOWN_MAX]) or None
    views = await replica_groups.describe_groups(names, directory.controller)
    data = SyncStateData(groups={view.group.name: _replicas(view) for view in views})
    return Answer(body=java_json.encode(data), remark=remark)


async def on_alter_sync_state_set(
    command: Command, session: object, directory: Directory
) -> Answer:
    """Replace a SyncStateSet as its master asks."""
    header = decode_header(AlterSyncStateSetHeader, command.ext)
    body = java_json.decode(command.body, SyncStateSetBody)
    proposal = SyncStateSetProposal(
        master_id=header.master_broker_id,
        master_epoch=header.master_epoch,
        members=frozenset(body.members),
        sync_state_set_epoch=body.epoch,
        is_fence=header.is_fence is True,
    )
    name = _named(header.broker_name, None, session, directory)
    group = (await replica_groups.alter_set(name, proposal, directory.controller)).group
    answer = AlterSyncStateSetAnswer(new_sync_state_set_epoch=group.sync_state_set.epoch)
    return Answer(ext=encode_header(answer), body=encode_set(group))


async def on_clean_broker_data(command: Command, session: object, directory: Directory) -> Answer:
    """Forget replicas that are lost for good."""
    header = decode_header(CleanBrokerDataHeader, command.ext)
    wish = replica_groups.CleanReplicas(
        name=_named(header.broker_name, header.cluster_name, session, directory),
        broker_ids=header.broker_controller_ids_to_clean,
        cleans_living=header.is_clean_living_broker,
    )
    change = await replica_groups.clean(wish, directory.controller)
    if change is not None:
        before = change.before
        await enter_order(
            "group.forget_replicas",
            session,
            directory.controller,
            cluster_name=before.cluster_name,
            broker_group_name=before.name,
            details={"before": groups.value_of(before), "after": groups.value_of(change.after)},
        )
    return Answer()


def master_header(group: ReplicaGroup) -> MasterHeader:
    """Write the header that names the master, its address and its epoch."""
    return MasterHeader(
        master_broker_id=group.master_id,
        master_address=None if group.master is None else group.master.address,
        master_epoch=group.master_epoch,
        sync_state_set_epoch=group.sync_state_set.epoch,
        lease_policy=group.lease_policy,
        loss_epoch=group.loss_epoch or None,
        protocol_version=_written_version(group),
    )


def _written_version(group: ReplicaGroup) -> int | None:
    """Return the version that the master writes; None for the first one."""
    version = group.written_version
    return version if version > FIRST_PROTOCOL_VERSION else None


def read_protocol_version(reported: int | None) -> int | None:
    """Read the version that a broker reports; None if it reports none."""
    return None if reported is None else max(FIRST_PROTOCOL_VERSION, reported)


def _reported_version(header: RegisterReplicaHeader) -> int | None:
    """Return the version of a registering broker; None for a broker of RocketMQ.

    Releases of ours before the first version that is reported send an epoch, and RocketMQ does not.
    """
    if header.protocol_version is None and header.epoch is not None:
        return FIRST_PROTOCOL_VERSION
    return read_protocol_version(header.protocol_version)


def encode_set(group: ReplicaGroup) -> bytes:
    """Write the SyncStateSet with its epoch."""
    held = group.sync_state_set
    return java_json.encode(SyncStateSetBody(members=sorted(held.members), epoch=held.epoch))


def _named(
    broker_group_name: str, cluster_name: str | None, session: object, directory: Directory
) -> BrokerGroupName:
    # RocketMQ sends no cluster name in some requests. The connection may identify the cluster (D2).
    known = cluster_name or directory.presence.find_cluster(session, broker_group_name)
    return BrokerGroupName(broker_group_name, known)


def _next_id(cluster_name: str, broker_group_name: str, broker_id: int | None) -> dict[str, str]:
    return encode_header(
        NextBrokerIdAnswer(
            cluster_name=cluster_name, broker_name=broker_group_name, next_broker_id=broker_id
        )
    )


def _replicas(view: GroupView) -> ReplicasBody:
    group, alive_ids = view.group, view.liveness.alive_ids
    members = group.sync_state_set.members
    reports = {
        broker_id: ReplicaBody(
            is_alive=broker_id in alive_ids,
            address=replica.address,
            broker_id=broker_id,
            broker_name=group.name,
        )
        for broker_id, replica in sorted(group.replicas.items())
    }
    body = ReplicasBody(
        in_sync=[replica for broker_id, replica in reports.items() if broker_id in members],
        master_epoch=group.master_epoch,
        not_in_sync=[replica for broker_id, replica in reports.items() if broker_id not in members],
        sync_state_set_epoch=group.sync_state_set.epoch,
    )
    if group.master is None:
        return body
    return msgspec.structs.replace(
        body, master_address=group.master.address, master_broker_id=group.master.broker_id
    )
