"""Read a share queue of an order from the master that owns it."""

from dataclasses import dataclass

from backend.brokers.errors import NoAnswer
from backend.brokers.requests.shares import GetShareMessages
from backend.domain.operation_errors import BrokerSilent, ShareQueueNotFound
from backend.domain.share_queue import HeldShareQueue, ShareMessage, ShareQueueName
from backend.operations.engine.kind import OperationContext
from backend.operations.planning import masters
from backend.operations.planning.masters import Master, Masters
from backend.services.cluster.broker_questions import NO_MASTER
from backend.services.consumer_group.share_queues import NOT_LEADING


@dataclass(frozen=True, slots=True)
class OwnedQueue:
    """Hold a share queue, its master, and its messages that are delivered and unfinished."""

    meant: Masters
    master: Master
    queue: HeldShareQueue
    messages: tuple[ShareMessage, ...]

    @property
    def acquired(self) -> list[ShareMessage]:
        """Return the messages that consumers have."""
        return [one for one in self.messages if one.is_acquired]


async def read_share_queue(
    cluster_name: str, broker_group_name: str, name: ShareQueueName, context: OperationContext
) -> OwnedQueue:
    """Ask the master of a broker group for a share queue.

    Raises:
        InvalidName: the name of the cluster or of the consumer group is invalid.
        ClusterNotFound, BrokerGroupNotFound: there is no such cluster or broker group.
        BrokerSilent: no master of the group answers.
        ShareQueueNotFound: the consumer group has no share queue there.
    """
    masters.check_consumer_group(name.consumer_group_name)
    meant = await masters.find_masters(cluster_name, (broker_group_name,), context)
    if not meant.found:
        raise BrokerSilent(broker_group_name, NO_MASTER)
    master = meant.found[0]
    try:
        found = await context.brokers.ask(master.address, GetShareMessages(name))
    except NoAnswer as error:
        raise BrokerSilent(master.address, error.reason) from error
    if not found.is_leading:
        raise BrokerSilent(master.address, NOT_LEADING)
    if found.queue is None:
        raise ShareQueueNotFound(cluster_name, broker_group_name, name)
    return OwnedQueue(meant, master, found.queue, found.messages)


def count_messages(count: int) -> str:
    """Count messages, in words."""
    return f"{count} message{'' if count == 1 else 's'}"
