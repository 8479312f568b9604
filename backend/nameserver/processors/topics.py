"""Answer lists of topics, and change their routes (remoting.md 2.7)."""

from collections.abc import Callable
from typing import Final

import structlog
from msgspec import UNSET

from backend.nameserver.answer import Answer
from backend.nameserver.directory import Directory
from backend.remoting import java_json
from backend.remoting.bodies import TopicList
from backend.remoting.command import Command
from backend.remoting.headers import (
    BrokerNameHeader,
    ClusterHeader,
    DeleteRouteHeader,
    decode_header,
)
from backend.remoting.response_code import ResponseCode

UNIT_FLAG: Final = 1
UNIT_SUBSCRIPTION_FLAG: Final = 2

log = structlog.get_logger(__name__)


def on_get_all_topics(_command: Command, _session: object, directory: Directory) -> Answer:
    """Answer the name of every topic."""
    if not directory.settings.lists_all_topics:
        return _not_listed("enableAllTopicList")
    return _topic_list(directory.table.list_topics())


def on_get_topics_by_cluster(command: Command, _session: object, directory: Directory) -> Answer:
    """Answer the names of a cluster's topics."""
    if not directory.settings.lists_topics:
        return _not_listed("enableTopicList")
    header = decode_header(ClusterHeader, command.ext)
    return _topic_list(directory.table.list_topics(cluster_name=header.cluster))


def on_get_system_topics(_command: Command, _session: object, directory: Directory) -> Answer:
    """Answer the names of clusters and groups, each of which is a topic, and one address."""
    if not directory.settings.lists_topics:
        return _not_listed("enableTopicList")
    groups = directory.table.list_groups()
    names = sorted({group.cluster_name for group in groups} | {g.broker_group_name for g in groups})
    address = next((address for group in groups for address in group.addresses.values()), None)
    return _topic_list(names, broker_address=address)


def on_get_unit_topics(_command: Command, _session: object, directory: Directory) -> Answer:
    """Answer the topics of a deployment unit."""
    return _by_flag(directory, lambda flag: bool(flag & UNIT_FLAG))


def on_get_unit_subscription_topics(
    _command: Command, _session: object, directory: Directory
) -> Answer:
    """Answer topics that a deployment unit subscribes to."""
    return _by_flag(directory, lambda flag: bool(flag & UNIT_SUBSCRIPTION_FLAG))


def on_get_mixed_unit_topics(_command: Command, _session: object, directory: Directory) -> Answer:
    """Answer topics that a deployment unit subscribes to and that are not of one."""
    return _by_flag(
        directory, lambda flag: bool(flag & UNIT_SUBSCRIPTION_FLAG) and not flag & UNIT_FLAG
    )


def on_delete_topic(command: Command, _session: object, directory: Directory) -> Answer:
    """Remove a topic from the routes of all clusters or of one; brokers may register it again."""
    header = decode_header(DeleteRouteHeader, command.ext)
    if directory.table.remove_topic(header.topic, cluster_name=header.cluster_name):
        directory.write_behind.note_topic_removed(header.topic, header.cluster_name)
        log.info("topic_removed", topic=header.topic, cluster_name=header.cluster_name)
    return Answer()


def on_wipe_write_permission(command: Command, _session: object, directory: Directory) -> Answer:
    """Clear the write permission of a broker group, in the routes of this name server only."""
    header = decode_header(BrokerNameHeader, command.ext)
    count = directory.table.wipe_write(header.broker_name)
    log.info("write_permission_wiped", broker_name=header.broker_name, topic_count=count)
    return Answer(ext={"wipeTopicCount": str(count)})


def on_add_write_permission(command: Command, _session: object, directory: Directory) -> Answer:
    """Set the write permission of a broker group again."""
    header = decode_header(BrokerNameHeader, command.ext)
    count = directory.table.add_write(header.broker_name)
    log.info("write_permission_added", broker_name=header.broker_name, topic_count=count)
    return Answer(ext={"addTopicCount": str(count)})


def _by_flag(directory: Directory, is_wanted: Callable[[int], bool]) -> Answer:
    if not directory.settings.lists_topics:
        return _not_listed("enableTopicList")
    return _topic_list(directory.table.list_by_flag(is_wanted))


def _not_listed(setting: str) -> Answer:
    remark = f"topics are not listed: {setting} is false on this name server"
    return Answer(ResponseCode.SYSTEM_ERROR, remark=remark)


def _topic_list(names: list[str], *, broker_address: str | None = None) -> Answer:
    body = TopicList(topic_list=names, broker_address=broker_address or UNSET)
    return Answer(body=java_json.encode(body))
