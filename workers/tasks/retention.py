"""Delete data after its retention time, on schedule."""

from socket import gethostname

from backend.domain.operation import Author
from backend.services.upkeep.retention import RetentionOutcome, apply_retention
from workers.runtime import Clients
from workers.tasks.base import run_periodic, task


@task("retention.apply")
def apply() -> None:
    """Keep history, operations, findings, the audit and samples within their limits."""
    run_periodic("retention.apply", _apply)


async def _apply(clients: Clients) -> RetentionOutcome:
    return await apply_retention(
        clients.settings.retention,
        author=Author(f"worker {gethostname()}", "worker"),
        history=clients.history,
        database=clients.database,
        clock=clients.clock,
    )
