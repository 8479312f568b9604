"""Bring brokers that missed a change of a static topic to the present mapping, on schedule."""

from backend.services.logical_queue.convergence import ConvergeOutcome, converge
from workers.runtime import Clients
from workers.tasks.base import run_periodic, task


@task("static_topics.converge")
def converge_all() -> None:
    """Look at all static topics once."""
    run_periodic("static_topics.converge", _converge)


async def _converge(clients: Clients) -> ConvergeOutcome:
    return await converge(database=clients.database, brokers=clients.brokers, clock=clients.clock)
