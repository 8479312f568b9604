"""Take another mode of the broker group, or say what is in the way (D16; our 7026)."""

import asyncio
from collections.abc import Mapping
from typing import Final

from regent_engine import Command

from backend.remoting.command import answer
from backend.remoting.errors import RemotingError
from backend.remoting.headers import decode_header, encode_header
from backend.remoting.headers.replication import SwitchModeAnswer, SwitchModeHeader
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.rules.group_mode import GroupMode
from backend.rules.mode_switch import SwitchOrder
from workers.broker.acting.fixed_replica import FixedReplica
from workers.broker.acting.last_record import find_log_end
from workers.broker.acting.plain_follower import check_is_continued
from workers.broker.broker import Broker
from workers.broker.configuration.live_settings import parse_changed
from workers.broker.configuration.settings import FixedRole
from workers.broker.errors import Refusal
from workers.broker.group.mode_switch import mode_of, write_order
from workers.broker.group.required_role import RequiredRole
from workers.broker.replication.master_inquiry import ask_master
from workers.broker.requests.caller import Caller
from workers.broker.requests.fence_target import FenceTarget
from workers.broker.requests.serving import serves

_ROLE_WORDS: Final[Mapping[FixedRole, str]] = {
    "async_master": "ASYNC_MASTER",
    "sync_master": "SYNC_MASTER",
    "replica": "ASYNC_MASTER",
}
"""The role of a master by its former role: one that waits for replicas goes on to do so."""


class _NotPassedBack(Refusal):
    """Only this replica has some state: in another mode it would give that to no master."""

    def __init__(self, reason: str) -> None:
        super().__init__(ResponseCode.SYSTEM_BUSY, reason)


def _target(broker: Broker, _command: Command) -> FenceTarget:
    return FenceTarget("group mode", lambda: {"mode": mode_of(broker.settings)})


@serves(RequestCode.SWITCH_GROUP_MODE, role=RequiredRole.ANY, passed_on=False, target=_target)
async def on_switch_mode(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Write the settings of the other mode and start again with them; a trial changes nothing."""
    header = decode_header(SwitchModeHeader, command.ext)
    if header.is_trial:
        return answer(command, ext=encode_header(await _try(broker, header)))
    changes = _changes(broker, header)
    await _check(broker, header, changes)
    others = () if header.others is None else tuple(header.others.split(","))
    order = SwitchOrder(founds=header.founds, others=others)
    async with broker.settings_lock:
        assert broker.config_file is not None, "a broker without a file has refused"
        await asyncio.to_thread(write_order, broker.settings.root_dir, order)
        await asyncio.to_thread(broker.config_file.change, changes)
    if header.mode == GroupMode.ACTING_MASTER and header.master_address is None:
        # The replicas are in that mode already, and act while this master starts again.
        broker.last_copies.expect(len(others))
    broker.restart_wanted.set()
    return answer(command)


async def _try(broker: Broker, header: SwitchModeHeader) -> SwitchModeAnswer:
    try:
        await _check(broker, header, _changes(broker, header))
    except Refusal as error:
        obstacle: str | None = str(error)
        passes = isinstance(error, _NotPassedBack) or None
    else:
        obstacle = passes = None
    return SwitchModeAnswer(
        mode=mode_of(broker.settings),
        log_end=broker.store.max_position,
        obstacle=obstacle,
        obstacle_passes=passes,
    )


def _changes(broker: Broker, header: SwitchModeHeader) -> dict[str, str | None]:
    """Return the properties of the other mode.

    Raises:
        Refusal: a broker has no such mode.
    """
    settings = broker.settings
    if header.mode == GroupMode.CONTROLLER:
        # One port of the control plane serves as name server and as controller.
        addresses = settings.controllers or settings.name_servers
        controllers = ";".join(f"{host}:{port}" for host, port in addresses)
        return {"enableControllerMode": "true", "controllerAddr": controllers}
    if header.mode == GroupMode.ACTING_MASTER:
        is_master = header.master_address is None
        return {
            "enableControllerMode": "false",
            "enableSlaveActingMaster": "true",
            "brokerId": str(header.broker_id),
            "brokerRole": _ROLE_WORDS[settings.role] if is_master else "SLAVE",
            "totalReplicas": str(header.replica_count),
        }
    raise Refusal(ResponseCode.INVALID_PARAMETER, f"no broker has the mode {header.mode!r}")


async def _check(
    broker: Broker, header: SwitchModeHeader, changes: Mapping[str, str | None]
) -> None:
    """Check that this broker can start in the other mode, and that its log is the master's.

    Raises:
        Refusal: it can't.
    """
    if broker.config_file is None:
        raise Refusal(
            ResponseCode.ILLEGAL_OPERATION,
            "it was started without a file, which its mode would be written to",
        )
    if broker.container is not None:
        raise Refusal(
            ResponseCode.ILLEGAL_OPERATION,
            "it runs in a container, which keeps its id: remove it, change its file, and add it",
        )
    await parse_changed(broker, changes)
    if broker.damage is not None:
        raise Refusal(ResponseCode.SYSTEM_BUSY, "its log is damaged: mend it first")
    broker.membership.check(RequiredRole.READABLE)
    if isinstance(broker.membership, FixedReplica) and broker.membership.unpassed:
        raise _NotPassedBack(broker.membership.unpassed)
    if header.master_address is None or header.mode != GroupMode.CONTROLLER:
        return
    if not header.founds:
        # It keeps the epochs by which the controller knows its log.
        return
    own = await asyncio.to_thread(find_log_end, broker.store)
    try:
        master = await ask_master(header.master_address, record_position=own.last_record)
        check_is_continued(broker.store, master, own)
    except (OSError, TimeoutError, RemotingError) as error:
        reason = str(error) or "its master does not answer in time"
        raise Refusal(ResponseCode.SYSTEM_BUSY, reason) from error
