"""Name the request codes of the protocol (remoting.md 2.1)."""

from enum import IntEnum
from typing import Final, Self

from regent_engine import SHARE_VERSION_MAX

FIRST_PROTOCOL_VERSION: Final = 1


class RequestCode(IntEnum):
    """The request codes, spelled as in stock RocketMQ.

    A code of ours is declared with the protocol version that added it (Q73, queue-ownership.md
    4.15). Its request and its answer never change; a new version adds codes (Q74). A broker answers
    a code of a later version as any unknown one (3).
    """

    _value_: int
    since: int
    """The protocol version that added the request; 0 for a request of RocketMQ."""

    def __new__(cls, code: int, since: int = 0) -> Self:
        """Make a code; ours have the protocol version that added them."""
        made = int.__new__(cls, code)
        made._value_, made.since = code, since
        return made

    SEND_MESSAGE = 10
    PULL_MESSAGE = 11
    QUERY_MESSAGE = 12
    QUERY_CONSUMER_OFFSET = 14
    UPDATE_CONSUMER_OFFSET = 15
    UPDATE_AND_CREATE_TOPIC = 17
    UPDATE_AND_CREATE_TOPIC_LIST = 18
    GET_ALL_TOPIC_CONFIG = 21
    UPDATE_BROKER_CONFIG = 25
    GET_BROKER_CONFIG = 26
    GET_BROKER_RUNTIME_INFO = 28
    SEARCH_OFFSET_BY_TIMESTAMP = 29
    GET_MAX_OFFSET = 30
    GET_MIN_OFFSET = 31
    GET_EARLIEST_MSG_STORETIME = 32
    VIEW_MESSAGE_BY_ID = 33
    HEART_BEAT = 34
    UNREGISTER_CLIENT = 35
    CONSUMER_SEND_MSG_BACK = 36
    END_TRANSACTION = 37
    GET_CONSUMER_LIST_BY_GROUP = 38
    CHECK_TRANSACTION_STATE = 39
    NOTIFY_CONSUMER_IDS_CHANGED = 40
    LOCK_BATCH_MQ = 41
    UNLOCK_BATCH_MQ = 42
    GET_ALL_CONSUMER_OFFSET = 43
    GET_ALL_DELAY_OFFSET = 45
    CHECK_CLIENT_CONFIG = 46
    GET_TIMER_CHECK_POINT = 60
    GET_TIMER_METRICS = 61
    PUT_KV_CONFIG = 100
    GET_KV_CONFIG = 101
    DELETE_KV_CONFIG = 102
    REGISTER_BROKER = 103
    UNREGISTER_BROKER = 104
    GET_ROUTEINFO_BY_TOPIC = 105
    GET_BROKER_CLUSTER_INFO = 106
    UPDATE_AND_CREATE_SUBSCRIPTIONGROUP = 200
    GET_ALL_SUBSCRIPTIONGROUP_CONFIG = 201
    GET_TOPIC_STATS_INFO = 202
    GET_CONSUMER_CONNECTION_LIST = 203
    GET_PRODUCER_CONNECTION_LIST = 204
    WIPE_WRITE_PERM_OF_BROKER = 205
    GET_ALL_TOPIC_LIST_FROM_NAMESERVER = 206
    DELETE_SUBSCRIPTIONGROUP = 207
    GET_CONSUME_STATS = 208
    DELETE_TOPIC_IN_BROKER = 215
    DELETE_TOPIC_IN_NAMESRV = 216
    REGISTER_TOPIC_IN_NAMESRV = 217
    GET_KVLIST_BY_NAMESPACE = 219
    RESET_CONSUMER_CLIENT_OFFSET = 220
    GET_CONSUMER_STATUS_FROM_CLIENT = 221
    INVOKE_BROKER_TO_RESET_OFFSET = 222
    INVOKE_BROKER_TO_GET_CONSUMER_STATUS = 223
    GET_TOPICS_BY_CLUSTER = 224
    UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST = 225
    QUERY_TOPIC_CONSUME_BY_WHO = 300
    QUERY_CONSUME_TIME_SPAN = 303
    GET_SYSTEM_TOPIC_LIST_FROM_NS = 304
    GET_SYSTEM_TOPIC_LIST_FROM_BROKER = 305
    CLEAN_EXPIRED_CONSUMEQUEUE = 306
    GET_CONSUMER_RUNNING_INFO = 307
    QUERY_CORRECTION_OFFSET = 308
    CONSUME_MESSAGE_DIRECTLY = 309
    SEND_MESSAGE_V2 = 310
    GET_UNIT_TOPIC_LIST = 311
    GET_HAS_UNIT_SUB_TOPIC_LIST = 312
    GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST = 313
    CLONE_GROUP_OFFSET = 314
    VIEW_BROKER_STATS_DATA = 315
    CLEAN_UNUSED_TOPIC = 316
    GET_BROKER_CONSUME_STATS = 317
    UPDATE_NAMESRV_CONFIG = 318
    GET_NAMESRV_CONFIG = 319
    SEND_BATCH_MESSAGE = 320
    QUERY_CONSUME_QUEUE = 321
    QUERY_DATA_VERSION = 322
    RESUME_CHECK_HALF_MESSAGE = 323
    SEND_REPLY_MESSAGE = 324
    SEND_REPLY_MESSAGE_V2 = 325
    PUSH_REPLY_MESSAGE_TO_CLIENT = 326
    ADD_WRITE_PERM_OF_BROKER = 327
    GET_ALL_PRODUCER_INFO = 328
    DELETE_EXPIRED_COMMITLOG = 329
    QUERY_TOPICS_BY_CONSUMER = 343
    QUERY_SUBSCRIPTION_BY_CONSUMER = 345
    GET_TOPIC_CONFIG = 351
    GET_SUBSCRIPTIONGROUP_CONFIG = 352
    UPDATE_AND_GET_GROUP_FORBIDDEN = 353
    CHECK_ROCKSDB_CQ_WRITE_PROGRESS = 354
    EXPORT_ROCKSDB_CONFIG_TO_JSON = 355
    LITE_PULL_MESSAGE = 361
    RECALL_MESSAGE = 370
    QUERY_ASSIGNMENT = 400
    SET_MESSAGE_REQUEST_MODE = 401
    GET_ALL_MESSAGE_REQUEST_MODE = 402
    UPDATE_AND_CREATE_STATIC_TOPIC = 513
    GET_BROKER_MEMBER_GROUP = 901
    ADD_BROKER = 902
    REMOVE_BROKER = 903
    BROKER_HEARTBEAT = 904
    NOTIFY_MIN_BROKER_ID_CHANGE = 905
    EXCHANGE_BROKER_HA_INFO = 906
    GET_BROKER_HA_STATUS = 907
    RESET_MASTER_FLUSH_OFFSET = 908
    CONTROLLER_ALTER_SYNC_STATE_SET = 1001
    CONTROLLER_ELECT_MASTER = 1002
    CONTROLLER_REGISTER_BROKER = 1003
    CONTROLLER_GET_REPLICA_INFO = 1004
    CONTROLLER_GET_METADATA_INFO = 1005
    CONTROLLER_GET_SYNC_STATE_DATA = 1006
    GET_BROKER_EPOCH_CACHE = 1007
    NOTIFY_BROKER_ROLE_CHANGED = 1008
    UPDATE_CONTROLLER_CONFIG = 1009
    GET_CONTROLLER_CONFIG = 1010
    CLEAN_BROKER_DATA = 1011
    CONTROLLER_GET_NEXT_BROKER_ID = 1012
    CONTROLLER_APPLY_BROKER_ID = 1013
    UPDATE_COLD_DATA_FLOW_CTR_CONFIG = 2001
    REMOVE_COLD_DATA_FLOW_CTR_CONFIG = 2002
    GET_COLD_DATA_FLOW_CTR_INFO = 2003
    SET_COMMITLOG_READ_MODE = 2004
    AUTH_CREATE_USER = 3001
    AUTH_UPDATE_USER = 3002
    AUTH_DELETE_USER = 3003
    AUTH_GET_USER = 3004
    AUTH_LIST_USER = 3005
    AUTH_CREATE_ACL = 3006
    AUTH_UPDATE_ACL = 3007
    AUTH_DELETE_ACL = 3008
    AUTH_GET_ACL = 3009
    AUTH_LIST_ACL = 3010
    # Ours: a member of a broker group has records of share queues appended to the state log.
    SHARE_STATE_APPEND = 4101, 2
    # Ours: a member of a broker group renews, requests and gives back share queues.
    SHARE_LEASE = 4102, FIRST_PROTOCOL_VERSION
    # Ours: a new member fetches an older part of the log from its master.
    SHARE_UPDATE_FETCH = 4104, 2
    POP_MESSAGE = 200_050
    ACK_MESSAGE = 200_051
    PEEK_MESSAGE = 200_052
    CHANGE_MESSAGE_INVISIBLETIME = 200_053
    NOTIFICATION = 200_054
    POLLING_INFO = 200_055
    POP_ROLLBACK = 200_056
    BATCH_ACK_MESSAGE = 200_151

    # Ours: counters and positions of one broker for the history (D25).
    GET_BROKER_SAMPLE = 7001, FIRST_PROTOCOL_VERSION
    # Ours: a master must confirm all its messages, before another is elected (R10c).
    HAND_OVER = 7002, FIRST_PROTOCOL_VERSION
    # Ours: the locks of queues, the end of named holds, and the readers of queues.
    GET_QUEUE_LOCKS = 7003, FIRST_PROTOCOL_VERSION
    RELEASE_QUEUE_LOCKS = 7004, FIRST_PROTOCOL_VERSION
    GET_QUEUE_READERS = 7005, FIRST_PROTOCOL_VERSION
    # Ours: all clients of a broker at once; stock lists consumers group by group.
    GET_CLIENTS = 7006, FIRST_PROTOCOL_VERSION
    # Ours: the subscriptions of each member of a group; stock returns only the last received ones.
    GET_MEMBERSHIPS = 7007, FIRST_PROTOCOL_VERSION
    # Ours: the properties of a broker, with their types, bounds and values.
    GET_BROKER_PROPERTIES = 7010, FIRST_PROTOCOL_VERSION
    # Ours: the requests of a move of logical queues, fenced by the epoch of the mapping.
    PREPARE_LOGICAL_QUEUE = 7011, FIRST_PROTOCOL_VERSION
    SEAL_LOGICAL_QUEUE = 7012, FIRST_PROTOCOL_VERSION
    UNSEAL_LOGICAL_QUEUE = 7013, FIRST_PROTOCOL_VERSION
    DISCARD_LOGICAL_QUEUE = 7014, FIRST_PROTOCOL_VERSION
    # Ours: all that a broker group keeps of its static topics.
    GET_LOGICAL_QUEUES = 7015, FIRST_PROTOCOL_VERSION
    # Ours: a physical queue of a static topic has no data, and no segment names it any more.
    RETIRE_PHYSICAL_QUEUE = 7016, FIRST_PROTOCOL_VERSION
    # Ours: a broker group that was away asks the control plane for newer mappings.
    GET_NEWER_MAPPINGS = 7017, FIRST_PROTOCOL_VERSION
    # Ours: the pending transactions of a broker, and the decision of an operator about one.
    GET_PENDING_TRANSACTIONS = 7018, FIRST_PROTOCOL_VERSION
    DECIDE_TRANSACTION = 7019, FIRST_PROTOCOL_VERSION
    # Ours: how the messages for a time of a broker stand.
    GET_TIMERS = 7020, FIRST_PROTOCOL_VERSION
    # Ours: what an acting master sends to other broker groups, and what it has sent there.
    GET_OUTBOX = 7024, FIRST_PROTOCOL_VERSION
    GET_ESCAPED = 7025, FIRST_PROTOCOL_VERSION
    # Ours: whether a broker can be in another mode of its group, and the change itself (D16).
    SWITCH_GROUP_MODE = 7026, FIRST_PROTOCOL_VERSION
    # Ours: what a container would run with the file of a broker, and why it could not.
    EXAMINE_BROKER_FILE = 7030, FIRST_PROTOCOL_VERSION
    # Ours: the share queues of a broker, the messages that consumers have of one, their release.
    GET_SHARE_QUEUES = 7031, FIRST_PROTOCOL_VERSION
    GET_SHARE_MESSAGES = 7032, FIRST_PROTOCOL_VERSION
    RELEASE_SHARE_MESSAGES = 7033, FIRST_PROTOCOL_VERSION
    # Ours: what consumers finished of share queues at a replica that acted; its master takes it.
    GET_FINISHED_SHARES = 7034, FIRST_PROTOCOL_VERSION
    TAKE_FINISHED_SHARES = 7035, FIRST_PROTOCOL_VERSION
    # Ours: the next leader of a logical queue takes its share queues over.
    TAKE_SHARE_QUEUES = 7036, FIRST_PROTOCOL_VERSION
    # Ours: the lane of a master is written again, in records of a former version.
    COMPACT_SHARE_QUEUES = 7037, 2


PROTOCOL_VERSION: Final = max(SHARE_VERSION_MAX, *(code.since for code in RequestCode))
"""The newest version of records and requests that this release knows."""
