"""What a replica gives to the master that serves again."""

from types import SimpleNamespace

import pytest

from backend.remoting import java_json
from backend.remoting.bodies.shares import FinishedShareBody, FinishedSharesBody
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.acting.passing_back import _pass_decisions, _pass_finished, _pass_offsets
from workers.broker.commit_log.write_block import WriteBlock
from workers.broker.shares.finished_shares import FinishedShares


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


@pytest.fixture
def finished(tmp_path):
    kept = FinishedShares(tmp_path / "regentFinished.json")
    for queue_id in (0, 1):
        kept.keep(
            FinishedShareBody(
                topic="orders",
                queue_id=queue_id,
                consumer_group="g",
                number=1 + queue_id,
                reset_epoch=0,
                ranges=[(0, 5)],
            )
        )
    return kept


class Taker:
    """A master that is given what was finished, and answers with a code."""

    def __init__(self, code):
        self.code, self.taken = code, []

    async def call(self, code, *, ext, body):
        assert (code, ext) == (RequestCode.TAKE_FINISHED_SHARES, {})
        self.taken += java_json.decode(body, FinishedSharesBody).shares
        return SimpleNamespace(code=self.code, remark="told", body=b"")


async def test_what_a_master_has_taken_is_forgotten(finished):  # S130
    master, wanted = Taker(ResponseCode.SUCCESS), list(finished.kept.values())

    await _pass_finished(finished, master)

    assert (master.taken, finished.kept) == (wanted, {})


@pytest.mark.parametrize(
    "code",
    [
        ResponseCode.SERVICE_NOT_AVAILABLE,
        ResponseCode.SYSTEM_ERROR,
        ResponseCode.FLUSH_SLAVE_TIMEOUT,
    ],
)
async def test_an_acknowledgement_that_a_master_did_not_take_is_kept(code, finished):  # S130
    with pytest.raises(ConnectionError, match="refused acknowledgements: told"):
        await _pass_finished(finished, Taker(code))

    assert len(finished.kept) == 2


async def test_a_master_that_has_no_share_queues_ends_the_wait(finished):
    await _pass_finished(finished, Taker(ResponseCode.REQUEST_CODE_NOT_SUPPORTED))

    assert not finished.kept
