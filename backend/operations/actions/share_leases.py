"""Hand the share queues of a broker group over to one of its members (queue-ownership.md 4.7)."""

from dataclasses import dataclass
from typing import ClassVar

from backend.db import share_leases
from backend.db.pipeline import pipeline_of
from backend.domain.operation import Step, Value
from backend.domain.plan import PlannedStep, ReadBack
from backend.domain.share_queue import ShareQueueName
from backend.operations.engine.kind import OperationContext, OperationRequest, StepRun, Waiting
from backend.operations.planning.groups import compare
from backend.services.share_queue.leases import hand_over_leases


@dataclass(frozen=True, slots=True)
class HandOverLeases:
    """Have the owner of share queues give them back, and a named member take them over."""

    tag: ClassVar[str] = "hand_over_share_queues"

    cluster_name: str
    broker_group_name: str
    owner_id: int
    successor_id: int
    names: tuple[ShareQueueName, ...]

    @property
    def step(self) -> PlannedStep:
        """Say how many share queues go from which member to which."""
        count = count_queues(len(self.names))
        title = f"Hand over {count} from broker {self.owner_id} to broker {self.successor_id}"
        return PlannedStep(f"hand over from {self.owner_id}", title)

    async def read(self, context: OperationContext) -> Value:
        """Count the share queues of the former owner, and those of the successor."""
        return await self._counts(context)

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Revoke the leases; wait until the former owner has given all of them back.

        Raises:
            Waiting: the former owner has some still. It gives them back with a heartbeat, or loses
            them at the end of its lease.
        """
        async with context.database.begin() as connection:
            await run.guard(connection)
        owners = await self._owners(context)
        left = [name for name, owner_id in owners.items() if owner_id == self.owner_id]
        await hand_over_leases(
            left,
            self.cluster_name,
            self.broker_group_name,
            self.successor_id,
            database=context.database,
        )
        found = await self._counts(context)
        if found["former_owner"]:
            raise Waiting(f"broker {self.owner_id} gives its share queues back", found)
        return found

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back that the former owner has none of them."""
        found = await self._counts(context)
        return [compare("share queues of the former owner", 0, found["former_owner"])]

    def undo(self, _step: Step) -> OperationRequest:
        """Hand the same share queues over to the former owner."""
        queues = [
            {
                "topic_name": one.topic,
                "queue_id": one.queue_id,
                "consumer_group_name": one.consumer_group_name,
                "successor_id": self.owner_id,
            }
            for one in self.names
        ]
        parameters = {
            "cluster_name": self.cluster_name,
            "broker_group_name": self.broker_group_name,
            "queues": queues,
        }
        return OperationRequest("hand_over_share_queues", parameters)

    async def _counts(self, context: OperationContext) -> dict[str, int]:
        owners = list((await self._owners(context)).values())
        return {
            "former_owner": owners.count(self.owner_id),
            "successor": owners.count(self.successor_id),
        }

    async def _owners(self, context: OperationContext) -> dict[ShareQueueName, int]:
        """Return the owners of the share queues that have one."""
        group = (self.cluster_name, self.broker_group_name)
        found = await share_leases.list_of_groups(pipeline_of(context.database), [group])
        leases = found.get(group, {})
        return {
            name: owner.broker_id
            for name in self.names
            if name in leases and (owner := leases[name].owner) is not None
        }


def count_queues(count: int) -> str:
    """Count share queues, in words."""
    return f"{count} share queue{'' if count == 1 else 's'}"
