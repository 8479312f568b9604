"""Ask for the leases of masters, and for the operations that workers carry out."""

from datetime import datetime
from uuid import UUID

from backend.domain.names import check_cluster_name
from backend.domain.page import Page
from backend.operations.engine.kind import OperationContext
from backend.operations.engine.leases import list_operation_leases
from backend.questions.question import After, Limit, question
from backend.services.consumer_group.queue_locks import list_leases
from backend.services.controller.group_changes import Controller
from backend.views.locks import LeaseOut, OperationLeaseOut

OperationKey = tuple[datetime, UUID]


@question("/clusters/{cluster_name}/leases", field="leases", tag="locks", refusals=(404,))
async def show_leases(
    cluster_name: str, limit: Limit = 100, after: After[str] = None, *, controller: Controller
) -> Page[LeaseOut, str]:
    """List the masters of the broker groups under a controller, with the end of their leases."""
    pages = await list_leases(
        [check_cluster_name(cluster_name)], size=limit, after=after, controller=controller
    )
    return pages[cluster_name].map(LeaseOut.of)


@question("/clusters/{cluster_name}/operation-leases", field="operationLeases", tag="locks")
async def show_operation_leases(
    cluster_name: str,
    limit: Limit = 100,
    after: After[OperationKey] = None,
    *,
    operations: OperationContext,
) -> Page[OperationLeaseOut, OperationKey]:
    """List the operations of a cluster that workers carry out now, the newest first."""
    page = await list_operation_leases(cluster_name, size=limit, after=after, context=operations)
    return page.map(OperationLeaseOut.of)
