"""Check for broken invariants on schedule."""

from backend.services.upkeep.findings import ScanOutcome, scan_findings
from workers.runtime import Clients
from workers.tasks.base import run_periodic, task


@task("findings.scan")
def scan() -> None:
    """Check every group once."""
    run_periodic("findings.scan", _scan)


async def _scan(clients: Clients) -> ScanOutcome:
    return await scan_findings(
        database=clients.database, clock=clients.clock, looking_since=clients.opened_at
    )
