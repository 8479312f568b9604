"""Answer the group and its controller (43, 45, 402, 905, 906, 907, 1007; our 4104, 7002)."""

import asyncio
import zlib
from functools import partial
from typing import Final

from regent_engine import Command, Store

from backend.remoting import java_json
from backend.remoting.bodies.controller import EpochBody, EpochsBody
from backend.remoting.command import answer
from backend.remoting.headers import decode_header, encode_header
from backend.remoting.headers.replication import (
    HaInfoAnswer,
    HaInfoHeader,
    HandOverHeader,
    LeastIdHeader,
    OffsetTableHeader,
    UpdateFetchAnswer,
    UpdateFetchHeader,
)
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.acting.last_record import crc_of_record
from workers.broker.broker import Broker
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.replication.backfill import UPDATE_VERSION
from workers.broker.requests.caller import Caller
from workers.broker.requests.serving import serves

UNBOUNDED: Final = 2**63 - 1
UPDATE_BYTES_MAX: Final = 4 << 20


@serves(RequestCode.GET_ALL_CONSUMER_OFFSET, role=RequiredRole.ANY, passed_on=False, target=None)
def on_get_consumer_offsets(broker: Broker, caller: Caller, command: Command) -> bytes:
    """Return the committed offsets of all groups to another member.

    If that member serves next, this broker changes them no more (I9).
    """
    header = decode_header(OffsetTableHeader, command.ext)
    if header.serves_next:
        broker.membership.give_way()
    if header.replica_id is not None:
        broker.last_copies.note_offsets(caller, header.replica_id)
    return answer(command, body=broker.offsets.as_body())


@serves(RequestCode.GET_ALL_DELAY_OFFSET, role=RequiredRole.ANY, passed_on=False, target=None)
def on_get_delay_offsets(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the offsets of all delay levels to a replica."""
    return answer(command, body=broker.state.delays.as_body())


@serves(RequestCode.GET_BROKER_EPOCH_CACHE, role=RequiredRole.MEMBER, passed_on=False, target=None)
def on_get_epochs(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return which epoch wrote which part of the log."""
    epochs = broker.store.epochs()
    ends = [*(start for _, start in epochs[1:]), UNBOUNDED]
    body = EpochsBody(
        broker_id=broker.membership.role_id,
        broker_name=broker.settings.broker_name,
        cluster_name=broker.settings.cluster_name,
        epochs=[
            EpochBody(epoch=number, start_offset=start, end_offset=end)
            for (number, start), end in zip(epochs, ends, strict=False)
        ],
        max_offset=broker.store.max_position,
    )
    return answer(command, body=java_json.encode(body))


@serves(RequestCode.GET_BROKER_HA_STATUS, role=RequiredRole.ANY, passed_on=False, target=None)
def on_get_ha_status(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the progress of replicas, or how this one follows its master.

    A broker without a controller is the master of a group of one.
    """
    return answer(command, body=java_json.encode(broker.membership.describe_ha()))


@serves(RequestCode.EXCHANGE_BROKER_HA_INFO, role=RequiredRole.ANY, passed_on=False, target=None)
async def on_exchange_ha_info(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the replication address of this master to a replica; empty if it is no master.

    With an address, a master says that it is about to serve (control-plane.md 5.7). Under a
    controller that is ignored: the controller decides who is master.
    """
    membership = broker.membership
    sent = decode_header(HaInfoHeader, command.ext)
    if sent.master_ha_address:
        await membership.take_master(sent)
        return answer(command)
    if membership.ha_address is None:
        return answer(command)
    host, port = broker.store_host
    is_fixed = membership.epoch is None
    crc = None
    if sent.record_position is not None:
        find = partial(crc_of_record, broker.store, sent.record_position)
        crc = await broker.read_threads.read(find)
    reported = HaInfoAnswer(
        master_ha_address=membership.ha_address,
        master_flush_offset=broker.store.flushed_position,
        master_address=f"{host}:{port}",
        master_epoch=membership.epoch,
        master_min_offset=broker.store.min_position,
        master_max_offset=broker.store.max_position,
        master_state_version=broker.offsets.data_version.state_version if is_fixed else None,
        update_version=None if is_fixed else UPDATE_VERSION,
        record_crc=crc,
    )
    return answer(command, ext=encode_header(reported))


@serves(RequestCode.SHARE_UPDATE_FETCH, role=RequiredRole.MEMBER, passed_on=False, target=None)
async def on_update_fetch(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Send an older part of the log to a new member, as fast as clients don't notice (Q56)."""
    header = decode_header(UpdateFetchHeader, command.ext)
    if header.position < 0 or not 0 < header.size <= UPDATE_BYTES_MAX:
        raise Refusal(
            ResponseCode.INVALID_PARAMETER,
            f"a part of the log has 1 to {UPDATE_BYTES_MAX} bytes, and no negative position",
        )
    await broker.membership.await_pace(header.size)
    # Not on the threads of cold reads: clients wait for these.
    part, crc = await asyncio.to_thread(_read_part, broker.store, header.position, header.size)
    return answer(command, ext=encode_header(UpdateFetchAnswer(crc=crc)), body=part)


def _read_part(store: Store, position: int, size: int) -> tuple[bytes, int]:
    """Read a part of the log, which is empty if it has expired, and its checksum."""
    part = store.log_bytes(position, size) or b""
    return part, zlib.crc32(part)


@serves(
    RequestCode.NOTIFY_MIN_BROKER_ID_CHANGE, role=RequiredRole.ANY, passed_on=False, target=None
)
def on_least_id_change(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Note which member of the group has the least id now, as a name server says."""
    sent = decode_header(LeastIdHeader, command.ext)
    if sent.min_broker_id is not None and sent.min_broker_addr:
        broker.membership.take_least(sent)
    return answer(command)


@serves(RequestCode.HAND_OVER, role=RequiredRole.MEMBER, passed_on=False, target=None)
async def on_hand_over(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Let a controller elect another master without a message in flight (R10c).

    If no election follows, clients only wait for a moment.
    """
    header = decode_header(HandOverHeader, command.ext)
    await broker.membership.hand_over(header.master_epoch)
    return answer(command)
