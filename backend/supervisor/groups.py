"""The broker groups of a local cluster: the order in which their agents start and stop.

A broker without an id starts only after its group has a master. So the first broker wins the first
election of a group, and keeps the messages of its time without a group. The controller gives ids in
the order of the brokers' names.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial

from backend.supervisor import founding, services
from backend.supervisor import process_checks as signs
from backend.supervisor.errors import CannotStart
from backend.supervisor.layout import BrokerLayout, ClusterLayout, GroupLayout
from backend.supervisor.process import ProcessSpec
from backend.supervisor.progress import Progress
from backend.supervisor.supervision import Supervised

SERVING_TIMEOUT_S = 60.0
CHECK_S = 0.1
REPORT_S = 10.0
"""Interval of the messages about a wait for replicas, which may have a long log to copy."""

Launch = Callable[[ProcessSpec], Awaitable[Supervised]]


class BrokerGroups:
    """All broker groups of one cluster."""

    def __init__(self, layout: ClusterLayout, progress: Progress, *, launch: Launch) -> None:
        """Prepare to run the layout's groups; nothing starts yet."""
        self._layout, self._progress, self._launch = layout, progress, launch
        self._settings: Mapping[str, str] = {}
        self._running: dict[str, Supervised] = {}

    async def begin(self, settings: Mapping[str, str]) -> None:
        """Start every broker that does not need another one; the brokers wait for a controller.

        Raises:
            CannotStart: a broker's files can't be written, or a new broker's mode is not known.
        """
        self._settings = settings
        try:
            for group in self._layout.groups:
                _check_mode(group)
                founding.found(group)
                for broker in group.brokers:
                    services.write_broker_config(self._layout, group, broker)
        except OSError as error:
            raise CannotStart(f"{error.filename}: {error.strerror}") from error
        for group in self._layout.groups:
            for broker in group.brokers:
                if broker.number == 1 or _needs_no_id(broker):
                    await self._start(group, broker)

    async def complete(self) -> None:
        """Wait until each group has its master, and all its replicas are in sync.

        Raises:
            CannotStart: a broker stopped, or a group has no master after a minute.
        """
        tasks = {
            group.name: asyncio.create_task(self._complete(group)) for group in self._layout.groups
        }
        try:
            for name, task in tasks.items():
                async with self._progress.step(f"Broker group {name}"):
                    await task
        finally:
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)

    async def describe(self) -> dict[str, str]:
        """List the brokers of each group with their addresses, the master first."""
        masters = await self._masters()
        return {
            group.name: _describe(group, masters.get(group.name)) for group in self._layout.groups
        }

    async def stop(self) -> None:
        """Stop the brokers, each master after its replicas.

        If a master stopped first, a replica would be elected, only to be stopped next.
        """
        masters = set((await self._masters()).values())
        last = [
            self._running[broker.name]
            for broker in self._layout.brokers
            if broker.address in masters and broker.name in self._running
        ]
        await _stop_together(one for one in self._running.values() if one not in last)
        await _stop_together(last)

    async def _start(self, group: GroupLayout, broker: BrokerLayout) -> None:
        spec = services.broker_process(self._layout, group, broker, self._settings)
        self._running[broker.name] = await self._launch(spec)

    async def _complete(self, group: GroupLayout) -> None:
        await self._await_master(group)
        for broker in group.brokers:
            if broker.name not in self._running:
                await self._start(group, broker)
                await self._running[broker.name].wait_until(
                    partial(asyncio.to_thread, broker.identity_path.exists),
                    timeout_s=SERVING_TIMEOUT_S,
                )
        if group.is_replicated:
            await self._await_replicas(group)

    async def _await_master(self, group: GroupLayout) -> None:
        """Wait for a master; the wait ends if a broker of the group stops."""
        is_serving = partial(signs.is_serving, self._layout, group)
        waits = [
            asyncio.create_task(
                self._running[broker.name].wait_until(is_serving, timeout_s=SERVING_TIMEOUT_S)
            )
            for broker in group.brokers
            if broker.name in self._running
        ]
        try:
            await asyncio.gather(*waits)
        except CannotStart as error:
            # All groups wait for the same cause, so the first one is enough.
            over, _ = await asyncio.wait(waits, timeout=2 * CHECK_S)
            raise CannotStart("\n".join(_reasons(over))) from error
        finally:
            for wait in waits:
                wait.cancel()

    async def _await_replicas(self, group: GroupLayout) -> None:
        report_at = time.monotonic() + REPORT_S
        while lacking := await self._lacking(group):
            if time.monotonic() > report_at:
                names = ", ".join(broker.name for broker in lacking)
                self._progress.note(
                    f"{group.name}: waiting for {names} to hold what the master holds"
                    f" (logs: {self._layout.log_dir})"
                )
                report_at = time.monotonic() + REPORT_S
            await asyncio.sleep(CHECK_S)

    async def _lacking(self, group: GroupLayout) -> list[BrokerLayout]:
        state = (await signs.group_states(self._layout, [group])).get(group.name)
        return list(group.brokers) if state is None else state.lacks(group)

    async def _masters(self) -> dict[str, str]:
        replicated = [group for group in self._layout.groups if group.is_replicated]
        states = await signs.group_states(self._layout, replicated) if replicated else {}
        return {name: state.master for name, state in states.items() if state.master is not None}


def _check_mode(group: GroupLayout) -> None:
    """Refuse a new broker beside brokers without a controller: it would found a second group.

    Raises:
        CannotStart: there is such a broker.
    """
    new = [one.name for one in group.brokers if not one.config_path.exists()]
    if new and any(map(services.is_uncontrolled, group.brokers)):
        raise CannotStart(
            f"{group.name} is in acting-master mode, and {', '.join(new)} would need a controller:"
            f" start it without more replicas, then `regent controller switch {group.name} --to"
            " controller`"
        )


def _needs_no_id(broker: BrokerLayout) -> bool:
    """Return whether a broker has its id, from its controller or in its settings."""
    return broker.identity_path.exists() or services.is_uncontrolled(broker)


def _describe(group: GroupLayout, master: str | None) -> str:
    if not group.is_replicated:
        return f"master {group.brokers[0].address}"
    replicas = ", ".join(b.address for b in group.brokers if b.address != master)
    return f"master {master or 'unknown'}, replicas {replicas}"


async def _stop_together(running: Iterable[Supervised]) -> None:
    await asyncio.gather(*(one.stop() for one in running))


def _reasons(waits: Iterable["asyncio.Task[None]"]) -> list[str]:
    return sorted(str(error) for wait in waits if (error := wait.exception()) is not None)
