"""Answer the requests of a name server and controller: one function for each code.

The requests of the name server are answered from memory. The requests of the controller wait for
Postgres.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from backend.nameserver.answer import Answer
from backend.nameserver.directory import Directory
from backend.nameserver.processors.clusters import (
    on_get_broker_cluster_info,
    on_get_broker_member_group,
    on_get_namesrv_config,
    on_update_namesrv_config,
)
from backend.nameserver.processors.elections import (
    on_elect_master,
    on_get_controller_config,
    on_get_controller_metadata,
    on_update_controller_config,
)
from backend.nameserver.processors.key_values import (
    on_delete_kv_config,
    on_get_kv_config,
    on_get_kv_list,
    on_put_kv_config,
)
from backend.nameserver.processors.logical_queues import on_get_newer_mappings
from backend.nameserver.processors.registrations import (
    on_broker_heartbeat,
    on_query_data_version,
    on_register_broker,
    on_unregister_broker,
)
from backend.nameserver.processors.replica_groups import (
    on_alter_sync_state_set,
    on_apply_broker_id,
    on_clean_broker_data,
    on_get_next_broker_id,
    on_get_replica_info,
    on_get_sync_state_data,
    on_register_replica,
)
from backend.nameserver.processors.routes import on_get_route, on_register_topic
from backend.nameserver.processors.share_leases import on_share_lease
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

Processor = Callable[[Command, object, Directory], Answer | Awaitable[Answer]]

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
    RequestCode.UPDATE_NAMESRV_CONFIG: on_update_namesrv_config,
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
    RequestCode.CONTROLLER_ALTER_SYNC_STATE_SET: on_alter_sync_state_set,
    RequestCode.CONTROLLER_ELECT_MASTER: on_elect_master,
    RequestCode.CONTROLLER_REGISTER_BROKER: on_register_replica,
    RequestCode.CONTROLLER_GET_REPLICA_INFO: on_get_replica_info,
    RequestCode.CONTROLLER_GET_METADATA_INFO: on_get_controller_metadata,
    RequestCode.CONTROLLER_GET_SYNC_STATE_DATA: on_get_sync_state_data,
    RequestCode.UPDATE_CONTROLLER_CONFIG: on_update_controller_config,
    RequestCode.GET_CONTROLLER_CONFIG: on_get_controller_config,
    RequestCode.CLEAN_BROKER_DATA: on_clean_broker_data,
    RequestCode.CONTROLLER_GET_NEXT_BROKER_ID: on_get_next_broker_id,
    RequestCode.CONTROLLER_APPLY_BROKER_ID: on_apply_broker_id,
    RequestCode.GET_NEWER_MAPPINGS: on_get_newer_mappings,
    RequestCode.SHARE_LEASE: on_share_lease,
}

__all__ = ["PROCESSORS", "Processor"]
