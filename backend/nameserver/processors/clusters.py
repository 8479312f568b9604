"""Answer who is in which cluster and group (remoting.md 2.7: 106, 901, 319)."""

from backend.nameserver.answer import Answer
from backend.nameserver.directory import Directory
from backend.nameserver.processors.routes import broker_data
from backend.remoting import java_json
from backend.remoting.bodies import BrokerMemberGroup, BrokerMembers, ClusterInfo
from backend.remoting.command import Command
from backend.remoting.headers import BrokerMemberGroupHeader, decode_header


def on_get_broker_cluster_info(_command: Command, _session: object, directory: Directory) -> Answer:
    """Answer every group with its members, and which cluster it belongs to."""
    groups = directory.table.list_groups()
    clusters: dict[str, list[str]] = {}
    for group in groups:
        clusters.setdefault(group.cluster_name, []).append(group.group_name)
    info = ClusterInfo(
        brokers={group.group_name: broker_data(group) for group in groups}, clusters=clusters
    )
    return Answer(body=java_json.encode(info))


def on_get_broker_member_group(command: Command, _session: object, directory: Directory) -> Answer:
    """Answer a group's members by their real ids; a group that is not known has none."""
    header = decode_header(BrokerMemberGroupHeader, command.ext)
    group = directory.table.find_group(header.cluster_name, header.broker_name)
    members = BrokerMembers(
        addresses={} if group is None else dict(group.addresses),
        broker_name=header.broker_name,
        cluster=header.cluster_name,
    )
    return Answer(body=java_json.encode(BrokerMemberGroup(members=members)))


def on_get_namesrv_config(_command: Command, _session: object, directory: Directory) -> Answer:
    """Answer the settings that matter to tools, as Java properties; no path and no secret."""
    settings = directory.describe_settings()
    lines = (f"{key}={value}\n" for key, value in sorted(settings.items()))
    return Answer(body="".join(lines).encode())
