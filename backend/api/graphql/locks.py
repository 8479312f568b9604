"""Present who holds queues in order, and why queues stand still."""

from typing import Any

import strawberry

from backend.api.cursors import decode_cursor
from backend.api.graphql.context import Info
from backend.api.graphql.questions import present
from backend.api.graphql.views import shows, translate
from backend.domain import queue_lock as domain
from backend.services import queue_locks, queue_pauses
from backend.views.locks import LocksOut, QueueExplanationOut

translate(domain.Holder)  # names the enumeration for the input below


@strawberry.input
class LockFilter:
    """Say which locks are meant: each fact that is given must be so."""

    cluster_name: str | None = None
    consumer_group: str | None = None
    topic: str | None = None
    group_name: str | None = None
    queue_id: int | None = None
    client_id: str | None = None
    holder: domain.Holder | None = None


@strawberry.type
class LockQuery:
    """Ask for locks and leases, and why queues stand still."""

    @shows(LocksOut)
    async def locks(
        self,
        info: Info,
        first: int = 100,
        after: str | None = None,
        chosen: LockFilter | None = None,
    ) -> Any:
        """List the locks of ordered queues, as brokers report them now."""
        api = info.context.api
        found = await queue_locks.list_locks(
            domain.LockFilter(
                **({} if chosen is None else vars(chosen)), within=info.context.within
            ),
            size=first,
            after=decode_cursor(after, tuple[str, str, str, str, int, str]),
            database=api.database,
            brokers=api.brokers,
            clock=api.clock,
        )
        return present(LocksOut.of(found))

    @shows(list[QueueExplanationOut])
    async def queue_explanations(
        self,
        info: Info,
        cluster_name: str,
        topic_name: str,
        consumer_group: str,
        group_name: str | None = None,
        queue_id: int | None = None,
    ) -> list[QueueExplanationOut]:
        """Say of each queue in a sentence why a group does not read it; the paused come first."""
        api = info.context.api
        asked = queue_pauses.QueuesAsked(
            cluster_name, topic_name, consumer_group, group_name, queue_id
        )
        found = await queue_pauses.explain_queues(
            asked, database=api.database, brokers=api.brokers, clock=api.clock
        )
        return [QueueExplanationOut.of(one) for one in found.queues]
