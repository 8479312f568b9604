"""Ask for operations, and whether the facts of a plan have changed."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from backend.db.operations import OperationFilter
from backend.domain.access import Reach
from backend.domain.cluster_scope import ClusterScope
from backend.domain.names import check_cluster_name
from backend.domain.operation import Operation, OperationState
from backend.domain.page import Page
from backend.operations.engine import following, orders
from backend.operations.engine.kind import OperationContext
from backend.operations.engine.known_kinds import KINDS
from backend.questions.question import After, Fifty, Given, Search, question
from backend.views.operations import FactsOut, OperationOut

TAG = "operations"
OperationKey = tuple[datetime, UUID]
OperationId = Annotated[UUID, Given(graph_name="id")]
OfCluster = Annotated[str | None, Given(length_max=300)]
KindName = Annotated[str, Given(length_max=100, choices=tuple(KINDS))]


@question("/operations", field="operations", tag=TAG, reach=Reach.KEPT)
async def show_operations(
    limit: Fifty = 100,
    after: After[OperationKey] = None,
    cluster_name: OfCluster = None,
    state: OperationState | None = None,
    kind: KindName | None = None,
    search: Search = None,
    *,
    within: ClusterScope,
    operations: OperationContext,
) -> Page[OperationOut, OperationKey]:
    """List operations, the newest first."""
    name = None if cluster_name is None else check_cluster_name(cluster_name)
    page = await orders.list_operations(
        size=limit,
        after=after,
        chosen=OperationFilter(name, state, kind, search, within),
        context=operations,
    )
    return page.map(lambda found: show(found, operations))


@question(
    "/operations/{operation_id}", field="operation", tag=TAG, reach=Reach.KEPT, refusals=(404,)
)
async def show_operation(
    operation_id: OperationId, *, within: ClusterScope, operations: OperationContext
) -> OperationOut:
    """Describe an operation as it is now."""
    found = await orders.describe_operation(operation_id, operations, within=within)
    return show(found, operations)


@question(
    "/operations/{operation_id}/facts",
    field="Operation.movedFact",
    tag=TAG,
    reach=Reach.KEPT,
    refusals=(404,),
)
async def show_facts(
    operation_id: OperationId, *, within: ClusterScope, operations: OperationContext
) -> FactsOut:
    """Compare the facts of a plan with the present facts."""
    return FactsOut.of(await following.find_moved_fact(operation_id, operations, within=within))


@question(
    None,
    field="operationKinds",
    tag=TAG,
    reach=Reach.CONTROL_PLANE,
    why_not="the OpenAPI document has the kinds with their parameters",
)
async def list_kinds() -> list[str]:
    """List all kinds of operations."""
    return list(KINDS)


def show(operation: Operation, operations: OperationContext) -> OperationOut:
    """Show an operation, and the actions that are possible now."""
    return OperationOut.of(operation, following.find_following(operation, operations))
