"""Answer elections of masters, and requests about controllers (1002, 1005, 1009, 1010)."""

from typing import Final

import structlog

from backend.domain.election import Ballot
from backend.domain.replica_group import ReplicaGroup
from backend.nameserver.answer import Answer
from backend.nameserver.direct_orders import enter_order
from backend.nameserver.directory import Directory
from backend.nameserver.processors.replica_groups import master_header
from backend.operations.planning import groups
from backend.remoting import java_json
from backend.remoting.bodies import BrokerMembers, ElectedBody
from backend.remoting.command import Command
from backend.remoting.headers import (
    ControllerMetadataAnswer,
    ElectMasterHeader,
    decode_header,
    encode_header,
)
from backend.remoting.headers.controller import CALLER_IS_CONTROLLER
from backend.remoting.response_code import ResponseCode
from backend.services.controller import elections
from backend.services.controller.elections import ElectionRequest, Evidence
from backend.services.controller.group_changes import BrokerGroupName

CONTROLLER_GROUP: Final = "regent"

log = structlog.get_logger(__name__)


async def on_elect_master(command: Command, session: object, directory: Directory) -> Answer:
    """Elect a master as a broker or an operator asks; the present master may stay (2011)."""
    header = decode_header(ElectMasterHeader, command.ext)
    cluster_name = header.cluster_name or directory.presence.find_cluster(
        session, header.broker_name
    )
    names_no_broker = header.broker_id == CALLER_IS_CONTROLLER
    ballot = Ballot(
        broker_id=None if names_no_broker else header.broker_id,
        is_designated=header.designate_elect,
    )
    wish = ElectionRequest(
        BrokerGroupName(header.broker_name, cluster_name),
        ballot,
        cause=_cause(header, names_no_broker),
        evidence=Evidence(listened_ms=directory.reports.listened_ms),
    )
    view = await elections.elect(wish, directory.controller)
    group = view.group
    ext = encode_header(master_header(group))
    members = sorted(group.sync_state_set.members)
    if view.change is None:
        remark = f"broker {group.master_id} of {group.name} is master and stays master"
        return Answer(
            ResponseCode.CONTROLLER_MASTER_STILL_EXIST,
            ext=ext,
            body=java_json.encode(ElectedBody(members=members)),
            remark=remark,
        )
    if header.designate_elect:
        await enter_order(
            "group.elect_master",
            session,
            directory.controller,
            cluster_name=group.cluster_name,
            broker_group_name=group.name,
            details={
                "before": groups.value_of(view.change.before),
                "after": groups.value_of(group),
            },
        )
    log.info("master_elected", broker_name=group.name, master_id=group.master_id, cause=wish.cause)
    body = ElectedBody(member_group=_members(group), members=members)
    return Answer(ext=ext, body=java_json.encode(body))


def on_get_controller_metadata(_command: Command, session: object, directory: Directory) -> Answer:
    """Answer that this process is the leader: every process may serve every request (D1)."""
    address = directory.address_of(session)
    answer = ControllerMetadataAnswer(
        group=CONTROLLER_GROUP,
        controller_leader_id=address,
        controller_leader_address=address,
        is_leader=True,
        peers=f"{address};",
    )
    return Answer(ext=encode_header(answer))


def on_get_controller_config(_command: Command, _session: object, directory: Directory) -> Answer:
    """Answer the settings that decide elections, as Java properties."""
    lines = sorted(directory.describe_controller().items())
    return Answer(body="".join(f"{key}={value}\n" for key, value in lines).encode())


def on_update_controller_config(
    _command: Command, _session: object, _directory: Directory
) -> Answer:
    """Refuse: a request without a user must not change which replicas may become master (D26)."""
    remark = "set REGENT_UNCLEAN_ELECTION_ALLOWED or REGENT_LEASE_POLICY and restart"
    return Answer(ResponseCode.NO_PERMISSION, remark=remark)


def _cause(header: ElectMasterHeader, names_no_broker: bool) -> str:  # noqa: FBT001 - private
    if header.designate_elect:
        return "operator"
    return "asked without a broker id" if names_no_broker else f"broker {header.broker_id} asked"


def _members(group: ReplicaGroup) -> BrokerMembers:
    return BrokerMembers(
        addresses={i: replica.address for i, replica in sorted(group.replicas.items())},
        broker_name=group.name,
        cluster=group.cluster_name,
    )
