"""What the controller and the name server of a cluster say of its groups."""

from dataclasses import dataclass

import msgspec

from tests.system.cluster import Cluster, wait_until
from tests.system.peer import peer, send_header
from tests.waiting import PATIENCE_S

GET_MAX_OFFSET = 30
GET_BROKER_CLUSTER_INFO = 106
SEND_MESSAGE_V2 = 310
GET_SYNC_STATE_DATA = 1006


@dataclass(frozen=True, slots=True)
class GroupState:
    """A group's master and living members of its SyncStateSet, by addresses."""

    master: str | None
    epoch: int
    in_sync: frozenset[str]


def group_state(cluster: Cluster, broker_group_name: str) -> GroupState | None:
    """Ask the controller; None while it does not know the group."""
    with peer(cluster.name_server_address) as asker:
        answer = asker.ask(GET_SYNC_STATE_DATA, body=msgspec.json.encode([broker_group_name]))
    told = msgspec.json.decode(answer.body)["replicasInfoTable"].get(broker_group_name)
    if told is None:
        return None
    living = frozenset(one["brokerAddress"] for one in told["inSyncReplicas"] if one["alive"])
    return GroupState(told.get("masterAddress"), told["masterEpoch"], living)


def await_whole(
    cluster: Cluster, broker_group_name: str, *, other_than: str | None = None
) -> GroupState:
    """Wait until all brokers are in sync under a master, another one than given."""
    addresses = {broker.address for broker in cluster.brokers}
    state: GroupState | None = None

    def is_whole() -> bool:
        nonlocal state
        state = group_state(cluster, broker_group_name)
        return (
            state is not None
            and state.in_sync == addresses
            and state.master not in (None, other_than)
            and registered(cluster, broker_group_name).get("0") == state.master
        )

    wait_until(is_whole, timeout_s=PATIENCE_S, what=lambda: f"{state}")
    assert state is not None
    return state


def registered(cluster: Cluster, broker_group_name: str) -> dict[str, str]:
    """Ask the name server for a group's addresses by id; 0 is the master's."""
    with peer(cluster.name_server_address) as asker:
        info = msgspec.json.decode(asker.ask(GET_BROKER_CLUSTER_INFO).body)
    return info["brokerAddrTable"].get(broker_group_name, {}).get("brokerAddrs", {})


def send(address: str, topic: str) -> int:
    """Send a message to a broker and return the code of its answer."""
    with peer(address) as producer:
        return producer.ask(SEND_MESSAGE_V2, send_header(topic), b"kept").code


def message_count(address: str, topic: str) -> int:
    """Ask a broker how many messages readers may see in the topic's first queue."""
    with peer(address) as reader:
        answer = reader.ask(GET_MAX_OFFSET, {"topic": topic, "queueId": "0"})
    return int(answer.ext["offset"]) if answer.code == 0 else -1
