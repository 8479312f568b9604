"""Ask a master itself about its log (906): the name server may not know it yet."""

from backend.remoting.address import split_address
from backend.remoting.headers import InvalidHeader, decode_header, encode_header
from backend.remoting.headers.replication import HaInfoAnswer, HaInfoHeader
from backend.remoting.request_code import RequestCode
from backend.requester import connect


async def ask_master(address: str, *, record_position: int | None = None) -> HaInfoAnswer:
    """Ask a master for its replication address and its epoch; stock sends no epoch.

    A master of ours also sends the checksum of a record that is named.

    Raises:
        OSError: the connection is lost, or the broker does not serve as master yet.
        TimeoutError: it does not answer.
        RemotingError: the answer is invalid.
    """
    requester = await connect(split_address(address), peer_name="master")
    try:
        ext = encode_header(HaInfoHeader(record_position=record_position))
        answer = await requester.call(RequestCode.EXCHANGE_BROKER_HA_INFO, ext=ext)
    finally:
        requester.close()
    try:
        header = decode_header(HaInfoAnswer, answer.ext)
    except InvalidHeader as error:
        raise ConnectionError(f"the master's answer cannot be read: {error}") from error
    if not header.master_ha_address:
        raise ConnectionError(f"{address} does not serve as master yet")
    return header
