"""Answer the other brokers of the group (43, 45, 906; storage-and-ha.md 9.10)."""

from regent_engine import Command

from backend.remoting.command import answer
from backend.remoting.headers import encode_header
from backend.remoting.headers.replication import HaInfoAnswer
from workers.broker.broker import Broker
from workers.broker.caller import Caller


def on_get_consumer_offsets(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Give a replica the committed offsets of all groups."""
    return answer(command, body=broker.offsets.as_file())


def on_get_delay_offsets(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Give a replica how far each delay level is delivered."""
    return answer(command, body=broker.state.delays.as_file())


def on_exchange_ha_info(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Tell a replica where this master sends its log; one that is no master tells nothing.

    What a caller says of addresses is not believed: the controller says who is master.
    """
    ha_address = None if broker.replication is None else broker.replication.ha_address
    if ha_address is None:
        return answer(command)
    host, port = broker.store_host
    told = HaInfoAnswer(
        master_ha_address=ha_address,
        master_flush_offset=broker.store.flushed_position,
        master_address=f"{host}:{port}",
    )
    return answer(command, ext=encode_header(told))
