"""Answer requests for clusters, members and settings of this process (remoting.md 2.7).

That is 106, 901, 318 and 319.
"""

from dataclasses import asdict

import structlog

from backend.java_properties import parse_properties_text
from backend.nameserver.answer import Answer
from backend.nameserver.direct_orders import enter_order
from backend.nameserver.directory import Directory
from backend.nameserver.live_settings import SettingsRefused, changed, describe
from backend.nameserver.processors.routes import broker_data
from backend.remoting import java_json
from backend.remoting.bodies import BrokerMemberGroup, BrokerMembers, ClusterInfo
from backend.remoting.command import Command
from backend.remoting.headers import BrokerMemberGroupHeader, decode_header
from backend.remoting.response_code import ResponseCode
from backend.services.access.sessions import NO_CLUSTER

log = structlog.get_logger(__name__)


def on_get_broker_cluster_info(_command: Command, _session: object, directory: Directory) -> Answer:
    """Answer every group with its members and its cluster."""
    groups = directory.table.list_groups()
    clusters: dict[str, list[str]] = {}
    for group in groups:
        clusters.setdefault(group.cluster_name, []).append(group.broker_group_name)
    info = ClusterInfo(
        brokers={group.broker_group_name: broker_data(group) for group in groups}, clusters=clusters
    )
    return Answer(body=java_json.encode(info))


def on_get_broker_member_group(command: Command, _session: object, directory: Directory) -> Answer:
    """Answer the members of a group by their real ids; an unknown group has none."""
    header = decode_header(BrokerMemberGroupHeader, command.ext)
    group = directory.table.find_group(header.cluster_name, header.broker_name)
    members = BrokerMembers(
        addresses={} if group is None else dict(group.addresses),
        broker_name=header.broker_name,
        cluster=header.cluster_name,
    )
    return Answer(body=java_json.encode(BrokerMemberGroup(members=members)))


def on_get_namesrv_config(_command: Command, _session: object, directory: Directory) -> Answer:
    """Answer the settings for tools as Java properties, without paths and secrets."""
    properties = describe(directory.settings) | {"listenPort": str(directory.port_of())}
    lines = (f"{key}={value}\n" for key, value in sorted(properties.items()))
    return Answer(body="".join(lines).encode())


async def on_update_namesrv_config(
    command: Command, session: object, directory: Directory
) -> Answer:
    """Change all settings of this process that the body names, or none."""
    try:
        wished = parse_properties_text(command.body.decode())
    except UnicodeDecodeError:
        return Answer(ResponseCode.INVALID_PARAMETER, remark="the settings are not UTF-8")
    if not wished:
        return Answer(ResponseCode.INVALID_PARAMETER, remark="no setting is named")
    before = directory.settings
    try:
        after = changed(before, wished)
    except SettingsRefused as error:
        code = ResponseCode.NO_PERMISSION if error.is_closed else ResponseCode.INVALID_PARAMETER
        return Answer(code, remark=str(error))
    if after == before:
        return Answer()
    await enter_order(
        "name_server.change_settings",
        session,
        directory.controller,
        cluster_name=NO_CLUSTER,
        broker_group_name=f"name server {directory.address_of(session)}",
        details={"before": asdict(before), "after": asdict(after)},
    )
    # A setting takes effect only after its audit entry is written.
    directory.settings = changed(directory.settings, wished)
    log.info("settings_changed", names=sorted(wished))
    return Answer()
