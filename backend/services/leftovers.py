"""Ask a broker what is still to be read from it."""

import asyncio
from typing import Final

from backend.clients.brokers import BrokerRefused, Brokers
from backend.domain.leftovers import Leftovers
from backend.domain.queue_reading import add_lags

__all__ = ["Leftovers", "find_leftovers"]

CONCURRENT_COUNT_MAX: Final = 16


async def find_leftovers(address: str, brokers: Brokers) -> Leftovers:
    """Find how far every consumer group of a broker is, and what is delayed there.

    Raises:
        BrokerUnreachable: it does not answer in time.
        BrokerRefused: it does not say, or can't be understood.
    """
    names = await brokers.groups_with_offsets(address)
    slots = asyncio.Semaphore(CONCURRENT_COUNT_MAX)

    async def ask(name: str) -> tuple[int, bool]:
        async with slots:
            progress = await brokers.progress(address, name)
            online = await brokers.online_group(address, name)
        if online is not None and online.is_broadcasting:
            # Its members keep their own offsets: what is stored here is of former times.
            return 0, True
        lag = add_lags(progress)
        if lag is None:
            raise BrokerRefused(address, f"it does not report how much {name} has left to read")
        return lag, online is not None

    told = await asyncio.gather(*(ask(name) for name in names))
    return Leftovers(
        lags={name: lag for name, (lag, _) in zip(names, told, strict=True)},
        online=frozenset(name for name, (_, is_on) in zip(names, told, strict=True) if is_on),
        delayed_count=await brokers.delayed_count(address),
    )
