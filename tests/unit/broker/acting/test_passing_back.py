"""What a replica gives to the master that serves again."""

import asyncio
from types import SimpleNamespace

import pytest

from backend.remoting import java_json
from backend.remoting.bodies.shares import FinishedShareBody, FinishedSharesBody
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from tests.waiting import PATIENCE_S, eventually
from workers.broker.acting import passing_back
from workers.broker.acting.decisions import Decisions
from workers.broker.acting.passing_back import (
    PassingBack,
    _pass_decisions,
    _pass_finished,
    _pass_offsets,
)
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


@pytest.fixture
async def decisions(tmp_path):
    kept = Decisions(tmp_path / "decisions.json")
    for position in (4711, 4712, 4713):
        await kept.keep(position, {"commitLogOffset": str(position)})
    return kept


LATER = [
    (ResponseCode.SERVICE_NOT_AVAILABLE, WriteBlock.DISK_FULL),
    (ResponseCode.SYSTEM_BUSY, "busy"),
    (ResponseCode.SYSTEM_ERROR, WriteBlock.TOO_FEW_REPLICAS),
]


@pytest.mark.parametrize(("code", "remark"), LATER)
async def test_what_a_master_can_not_take_yet_is_given_again(code, remark, decisions):  # I9, I12
    with pytest.raises(ConnectionError, match="refused"):
        await _pass_offsets({"orders@g": {0: 7}}, Master(code, remark))
    with pytest.raises(ConnectionError, match="refused"):
        await _pass_decisions(decisions, Master(code, remark))

    assert len(decisions.kept) == 3


async def test_what_a_master_never_takes_is_given_up(decisions):
    master = Master(ResponseCode.SYSTEM_ERROR, "the transaction is not pending")
    await _pass_decisions(decisions, master)

    assert not decisions.kept
    assert await _pass_offsets({"orders@g": {0: 7}}, master) == 0


class Picky:
    """A master that takes all except some decisions, until it has room for them."""

    def __init__(self, refused_position):
        self.refused_position, self.asked = refused_position, []
        self.is_closed = False

    async def call(self, code, *, ext, body=b""):
        self.asked.append(RequestCode(code))
        if code == RequestCode.GET_ALL_CONSUMER_OFFSET:
            body = java_json.encode({"offsetTable": {}})
        is_refused = ext.get("commitLogOffset") == str(self.refused_position)
        refusal = ResponseCode.SERVICE_NOT_AVAILABLE if is_refused else ResponseCode.SUCCESS
        return SimpleNamespace(code=refusal, remark=WriteBlock.DISK_FULL, body=body)

    def close(self):
        self.is_closed = True


async def test_a_decision_that_a_master_refuses_holds_back_no_other_one(decisions, monkeypatch):
    saves = []
    monkeypatch.setattr(decisions, "save", lambda: saved(saves))

    with pytest.raises(ConnectionError, match="refused 1 decisions"):
        await _pass_decisions(decisions, Picky(4711))

    assert list(decisions.kept) == [4711]
    assert len(saves) == 1


async def saved(saves):
    saves.append(1)


async def test_a_refused_decision_holds_back_neither_offsets_nor_acknowledgements(
    decisions, finished, monkeypatch
):  # I9, S130
    master, noted = Picky(4711), []
    monkeypatch.setattr(passing_back, "connect", lambda *_, **__: connected(master))
    monkeypatch.setattr(passing_back, "RETRY_S", 0)
    passing = PassingBack(
        {"orders@g": {0: 7}}, decisions, finished=finished, on_offsets=lambda: saved(noted)
    )
    running = asyncio.create_task(passing.run("127.0.0.1:10911"))

    await eventually(lambda: master.asked.count(RequestCode.END_TRANSACTION) > 4)

    assert (noted, finished.kept, list(decisions.kept)) == ([1], {}, [4711])
    assert master.asked.count(RequestCode.UPDATE_CONSUMER_OFFSET) == 1
    master.refused_position = None
    async with asyncio.timeout(PATIENCE_S):
        await running
    assert not decisions.kept
    assert master.asked[:3] == [
        RequestCode.GET_ALL_CONSUMER_OFFSET,
        RequestCode.UPDATE_CONSUMER_OFFSET,
        RequestCode.TAKE_FINISHED_SHARES,
    ]


async def connected(master):
    return master


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
