"""Protect an object from deletion, or remove the protection."""

from dataclasses import dataclass
from typing import ClassVar

from backend.db import clusters, protections
from backend.domain.operation import Step, StepState, Value
from backend.domain.operation_errors import NotUndoable
from backend.domain.plan import PlannedStep, ReadBack
from backend.domain.protection import UNPROTECTED, Protection, Resource, ResourceKind
from backend.operations.engine.kind import OperationContext, OperationRequest, StepRun
from backend.operations.planning.groups import compare


@dataclass(frozen=True, slots=True)
class SetProtection:
    """Write or remove the row of a protection."""

    tag: ClassVar[str] = "set_protection"

    cluster_name: str
    resource_kind: ResourceKind
    resource_name: str
    is_protected: bool

    @property
    def step(self) -> PlannedStep:
        """Say which object is protected."""
        act = "Note the protection" if self.is_protected else "Lift the protection"
        return PlannedStep(
            "protection", f"{act} of {self.resource_kind.replace('_', ' ')} {self.resource_name}"
        )

    async def read(self, context: OperationContext) -> Value:
        """Read the protection."""
        found = await self._find(context)
        if found is None:
            return None
        return {
            "protected_by": found.protected_by,
            "protected_at": found.protected_at.isoformat(),
            "reason": found.reason,
        }

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Write or remove the row, in one transaction."""
        async with context.database.begin() as connection:
            await run.guard(connection)
            if self.is_protected:
                by, why = run.operation.confirmed_by or "", run.operation.reason
                wanted = Protection(self._resource, by, context.clock.now(), why)
                await protections.add(connection, wanted)
            else:
                await protections.remove(connection, self._resource)
        return await self.read(context)

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back the protection."""
        intended = "set" if self.is_protected else UNPROTECTED
        observed = UNPROTECTED if await self._find(context) is None else "set"
        return [compare("deletion protection", intended, observed)]

    def undo(self, step: Step) -> OperationRequest:
        """Remove the protection that was set, or protect the object again.

        Raises:
            NotUndoable: nothing was changed.
        """
        if step.state is not StepState.DONE or (step.before is None) is not self.is_protected:
            raise NotUndoable("the protection was not changed")
        parameters = {
            "cluster_name": self.cluster_name,
            "resource_kind": str(self.resource_kind),
            "resource_name": self.resource_name,
            "is_protected": not self.is_protected,
        }
        return OperationRequest("change_protection", parameters)

    @property
    def _resource(self) -> Resource:
        return Resource(self.cluster_name, self.resource_kind, self.resource_name)

    async def _find(self, context: OperationContext) -> Protection | None:
        async with context.database.connect() as connection:
            await clusters.get(connection, self.cluster_name)
            return await protections.find(connection, self._resource)
