"""Answer the requests of a name server: one function for each code, none of them waits."""

from collections.abc import Callable, Mapping
from typing import Final

from backend.nameserver.answer import Answer
from backend.nameserver.directory import Directory
from backend.nameserver.processors.clusters import (
    on_get_broker_cluster_info,
    on_get_broker_member_group,
    on_get_namesrv_config,
)
from backend.nameserver.processors.key_values import (
    on_delete_kv_config,
    on_get_kv_config,
    on_get_kv_list,
    on_put_kv_config,
)
from backend.nameserver.processors.registrations import (
    on_broker_heartbeat,
    on_query_data_version,
    on_register_broker,
    on_unregister_broker,
)
from backend.nameserver.processors.routes import on_get_route, on_register_topic
from backend.nameserver.processors.topics import (
    on_add_write_permission,
    on_delete_topic,
    on_get_all_topics,
    on_get_mixed_unit_topics,
    on_get_system_topics,
    on_get_topics_by_cluster,
    on_get_unit_subscription_topics,
    on_get_unit_topics,
    on_wipe_write_permission,
)
from backend.remoting.command import Command
from backend.remoting.request_code import RequestCode

Processor = Callable[[Command, object, Directory], Answer]

PROCESSORS: Final[Mapping[int, Processor]] = {
    RequestCode.PUT_KV_CONFIG: on_put_kv_config,
    RequestCode.GET_KV_CONFIG: on_get_kv_config,
    RequestCode.DELETE_KV_CONFIG: on_delete_kv_config,
    RequestCode.GET_KVLIST_BY_NAMESPACE: on_get_kv_list,
    RequestCode.REGISTER_BROKER: on_register_broker,
    RequestCode.UNREGISTER_BROKER: on_unregister_broker,
    RequestCode.BROKER_HEARTBEAT: on_broker_heartbeat,
    RequestCode.QUERY_DATA_VERSION: on_query_data_version,
    RequestCode.GET_ROUTEINFO_BY_TOPIC: on_get_route,
    RequestCode.REGISTER_TOPIC_IN_NAMESRV: on_register_topic,
    RequestCode.GET_BROKER_CLUSTER_INFO: on_get_broker_cluster_info,
    RequestCode.GET_BROKER_MEMBER_GROUP: on_get_broker_member_group,
    RequestCode.GET_NAMESRV_CONFIG: on_get_namesrv_config,
    RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: on_get_all_topics,
    RequestCode.GET_TOPICS_BY_CLUSTER: on_get_topics_by_cluster,
    RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS: on_get_system_topics,
    RequestCode.GET_UNIT_TOPIC_LIST: on_get_unit_topics,
    RequestCode.GET_HAS_UNIT_SUB_TOPIC_LIST: on_get_unit_subscription_topics,
    RequestCode.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST: on_get_mixed_unit_topics,
    RequestCode.DELETE_TOPIC_IN_NAMESRV: on_delete_topic,
    RequestCode.WIPE_WRITE_PERM_OF_BROKER: on_wipe_write_permission,
    RequestCode.ADD_WRITE_PERM_OF_BROKER: on_add_write_permission,
}

__all__ = ["PROCESSORS", "Processor"]
