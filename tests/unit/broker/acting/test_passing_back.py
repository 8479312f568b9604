"""What a replica gives to the master that serves again."""

from types import SimpleNamespace

import pytest

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.acting.passing_back import _pass_decisions, _pass_offsets
from workers.broker.commit_log.write_block import WriteBlock


class Master:
    """A master that refuses what it is sent, with a code and a reason."""

    def __init__(self, code, remark=""):
        self.refusal = SimpleNamespace(code=code, remark=remark, body=b"")

    async def call(self, code, *, ext):
        del ext
        if code == RequestCode.GET_ALL_CONSUMER_OFFSET:
            body = java_json.encode({"offsetTable": {"orders@g": {"0": 5}}})
            return SimpleNamespace(code=ResponseCode.SUCCESS, remark="", body=body)
        return self.refusal


class Kept:
    """A decision that waits for the master."""

    def __init__(self):
        self.kept = {4711: {}}

    async def forget(self, position):
        del self.kept[position]


LATER = [
    (ResponseCode.SERVICE_NOT_AVAILABLE, WriteBlock.DISK_FULL),
    (ResponseCode.SYSTEM_BUSY, "busy"),
    (ResponseCode.SYSTEM_ERROR, WriteBlock.TOO_FEW_REPLICAS),
]


@pytest.mark.parametrize(("code", "remark"), LATER)
async def test_what_a_master_can_not_take_yet_is_given_again(code, remark):  # I9, I12
    decisions = Kept()

    with pytest.raises(ConnectionError, match="refused"):
        await _pass_offsets({"orders@g": {0: 7}}, Master(code, remark))
    with pytest.raises(ConnectionError, match="refused"):
        await _pass_decisions(decisions, Master(code, remark))

    assert decisions.kept


async def test_what_a_master_never_takes_is_given_up():
    decisions = Kept()

    master = Master(ResponseCode.SYSTEM_ERROR, "the transaction is not pending")
    await _pass_decisions(decisions, master)

    assert not decisions.kept
    assert await _pass_offsets({"orders@g": {0: 7}}, master) == 0


async def test_a_higher_offset_of_the_master_stays():
    assert await _pass_offsets({"orders@g": {0: 4}}, Master(ResponseCode.SYSTEM_BUSY)) == 0
