"""Converge and check static topics, and drop their segments without data, on schedule."""

from backend.services.logical_queue.checking import CheckOutcome, check_and_keep
from backend.services.logical_queue.convergence import ConvergeOutcome, converge
from backend.services.logical_queue.expiring import ExpireOutcome, expire
from workers.runtime import Clients
from workers.tasks.base import run_periodic, task


@task("static_topics.converge")
def converge_all() -> None:
    """Look at all static topics once."""
    run_periodic("static_topics.converge", _converge)


@task("static_topics.check")
def check_all() -> None:
    """Compare Postgres, brokers and name servers once."""
    run_periodic("static_topics.check", _check)


@task("static_topics.expire")
def expire_all() -> None:
    """Look at the oldest segments of all static topics once."""
    run_periodic("static_topics.expire", _expire)


async def _converge(clients: Clients) -> ConvergeOutcome:
    return await converge(database=clients.database, brokers=clients.brokers, clock=clients.clock)


async def _expire(clients: Clients) -> ExpireOutcome:
    return await expire(database=clients.database, brokers=clients.brokers, clock=clients.clock)


async def _check(clients: Clients) -> CheckOutcome:
    return await check_and_keep(
        database=clients.database, brokers=clients.brokers, clock=clients.clock
    )
