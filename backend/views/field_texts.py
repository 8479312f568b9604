"""Say what those fields mean that several views have, and the pages of both doors."""

from typing import Final

from backend.views.graph_forms import Text

CLUSTER_NAME: Final = Text("Name of the cluster.")
CLUSTER_PATTERNS: Final = Text(
    "Clusters where the role is valid: names, with `*` for any letters. `*` alone is all of them."
)
CLUSTER_LIMITS: Final = Text(
    "Lists of patterns. A cluster is within reach if its name fits a pattern of each list."
)

ROUTE_VERSION: Final = Text("Version of the routes of the cluster. It grows with each change.")

BROKER_GROUP_NAME: Final = Text("Name of the broker group.")
BROKER_NAME: Final = Text(
    "Name of the broker: its group and own id. A failover does not change it."
)
BROKER_ADDRESS: Final = Text("Address of the broker for clients.")
REPLICA_ID: Final = Text("Id of the broker in its group. A failover does not change it.")
ROUTED_ID: Final = Text("Id that clients are routed to: 0 is the master.")
IS_MASTER: Final = Text("Whether the replica is the recorded master.")
IS_IN_SYNC: Final = Text("Whether the replica is in the SyncStateSet.")
MASTER_ID: Final = Text("Id of the recorded master, alive or not. Null if there is none.")
MASTER_EPOCH: Final = Text("Epoch of the recorded master. Each election increases it.")
IS_MASTER_ALIVE: Final = Text("Whether the control plane receives heartbeats of the master.")
LEASE_POLICY: Final = Text(
    "What the master needs to acknowledge a message: its lease, or a quorum."
)
SYNC_STATE_SET: Final = Text("Ids of the replicas in sync with the master, the master included.")
SYNC_STATE_SET_EPOCH: Final = Text("Version of the SyncStateSet. Each change increases it.")
LAST_HEARTBEAT_AT: Final = Text("Time of the last heartbeat. Null if it is unknown.")
HEALTH_VERDICT: Final = Text("Health in one word, from healthy to critical.")
HEALTH_SENTENCE: Final = Text("Health in words.")
ALIVE_COUNT: Final = Text("Number of brokers that the control plane receives heartbeats of.")

BROKER_GROUP_COUNT: Final = Text("Number of broker groups.")
BROKER_COUNT: Final = Text("Number of brokers.")
BROKERS_IN_GROUP: Final = Text("Number of brokers in the group.")
PROPERTY_NAME: Final = Text("Name of the property.")

TOPIC_COUNT: Final = Text("Number of topics.")
TOPIC_NAME: Final = Text("Name of the topic.")
TOPIC_KIND: Final = Text(
    "Kind of the topic: for users, for retries, for dead letters, or for RocketMQ itself."
)
QUEUE_ID: Final = Text("Number of the queue in its broker group.")
OLDEST_OFFSET: Final = Text("Offset of the oldest message.")
NEXT_OFFSET: Final = Text("Offset after the newest message.")
DELIVERIES: Final = Text("How far each consumer group is with the message.")
CONSUMER_GROUP_COUNT: Final = Text(
    "Number of consumer groups on the brokers that answered. More can consume the topic."
)
BODY_BYTES: Final = Text("Size of the stored body in bytes.")
MESSAGE_ID: Final = Text("Id of the message: address of its broker and log position.")
MESSAGES_OUT: Final = Text("Messages that brokers deliver per second. Null if it is unknown.")
BYTES_OUT: Final = Text("Bytes that brokers deliver per second. Null if it is unknown.")
MESSAGES_IN: Final = Text("Messages that masters receive per second. Null if it is unknown.")
BYTES_IN: Final = Text("Bytes that masters receive per second. Null if it is unknown.")

CONSUMER_GROUP: Final = Text("Name of the consumer group.")
GROUP_IS_SYSTEM: Final = Text("Whether the group belongs to RocketMQ itself.")
GROUP_LAG: Final = Text("Messages that the group has not consumed.")
RETRY_LAG: Final = Text("Messages that wait for another attempt.")
LAG: Final = Text("Number of messages that the group has not consumed. Null if it is unknown.")
MEASURED_LAG: Final = Text("Number of messages that the group had not consumed.")
EXPIRED_COUNT: Final = Text("Number of messages deleted before the group consumed them.")
MEASURED_AT: Final = Text(
    "Time of the measurement. With several broker groups it is the time of the oldest one."
)
LOG_END: Final = Text("End of the log in bytes. Null if it is unknown.")
CONSUMED_AT: Final = Text("Time when the last consumed message was stored. Null if it is unknown.")
GROUP_STATE: Final = Text(
    "Whether a client of the group is connected, by the brokers that answered."
)
ANSWERED_COUNT: Final = Text("Number of brokers that answered.")
ASKED_COUNT: Final = Text("Number of brokers that were asked.")
WAITING_MS: Final = Text(
    "Age of the oldest unconsumed message in milliseconds. Null if it is unknown."
)

CLIENT_ID: Final = Text("Id of the client.")
CLIENT_ADDRESS: Final = Text("Address of the client.")
CLIENT_LANGUAGE: Final = Text("Language of the client library.")
CLIENT_VERSION: Final = Text("Version of the client library, as RocketMQ numbers it.")
CLIENT_VERSION_NAME: Final = Text(
    "Version of the client library in words. Null if the number is unknown."
)
CLIENT_ROLES: Final = Text("Whether the client produces, consumes, or both.")
PRODUCER_GROUPS: Final = Text("Names of the producer groups of the client.")
CONSUMER_GROUPS: Final = Text("Names of the consumer groups of the client.")
CLIENT_HEARD_MS: Final = Text(
    "Milliseconds since the last heartbeat of the client. Null if it is unknown."
)

PROTECTION: Final = Text("Protection from deletion. Null if there is none.")
OPERATION_ID: Final = Text("Id of the operation.")
CAUSING_OPERATION_ID: Final = Text("Id of the operation that caused this. Null if none did.")
ORDER_PARAMETERS: Final = Text("Parameters of the order.")
REPORT_ID: Final = Text("Id of the report.")
OPERATION_KIND: Final = Text("Kind of the operation.")
OPERATION_TARGET: Final = Text("Name of the object that the operation changes.")
CONFIRMED_BY: Final = Text("User who confirmed the plan. Null before a confirmation.")
REPLY_ERROR: Final = Text("Why the broker gave no answer. Null if it answered.")
OBSERVED_AT: Final = Text("Time when the brokers were asked.")
UNKNOWN_BROKERS: Final = Text("Brokers whose answer is missing or incomplete.")
UNKNOWN_WHY: Final = Text("Why the answer of the broker is missing or incomplete.")

USER_NAME: Final = Text("Name of the user.")
USER_ROLE: Final = Text("Role of the user: viewer, operator or administrator.")
TOKEN_NAME: Final = Text("Name of the token.")
TOKEN_ROLE: Final = Text("Role of the token. The role of the user limits it.")
TOKEN_LIFETIME: Final = Text("Days until the token expires.")
TOKEN_READ_ONLY: Final = Text("Whether the token can only read.")
TOKEN_SECRET: Final = Text("The token itself. No later answer shows it.")
ONE_TIME_PASSWORD: Final = Text("One-time password for the next sign-in. No later answer shows it.")
CREDENTIAL: Final = Text("Whether the caller uses a session or an API token.")
CREDENTIAL_EXPIRES_AT: Final = Text("Time when the session or the token expires.")
MUST_CHANGE_PASSWORD: Final = Text(
    "Whether the user has a one-time password, which must be changed first."
)

TYPED_NAME: Final = Text("Name of the target, as the caller typed it. R2 and R3 need it.")
CONFIRM_REASON: Final = Text("Reason for the operation. R2 and R3 need it.")
ACCEPTS_LOSS: Final = Text("Whether the caller accepts the loss that the plan states. R3 needs it.")

PAGE_ITEMS: Final = Text("Items of this page.")
PAGE_INFO: Final = Text("Whether more pages follow, and where the next page starts.")
PAGE_NEXT: Final = Text("Cursor of the next page. Null on the last page.")
PAGE_ENDLESS_NEXT: Final = Text("Cursor of the next page, which later items may extend.")
PAGE_HAS_MORE: Final = Text("Whether more items exist now.")
PAGE_TOTAL_COUNT: Final = Text("Number of items on all pages.")

GROUP_MODE: Final = Text(
    "Who replaces an absent master: a controller elects one, a replica acts for it, or no broker."
)
ACTING_BROKER: Final = Text(
    "Name of the replica that acts for the absent master. Null if none does."
)
ACTING_SINCE: Final = Text("Since when that replica acts, by the registrations. Null if none does.")
