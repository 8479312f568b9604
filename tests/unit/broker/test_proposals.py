"""Records that a replica proposes: their outcome becomes known, or they are withdrawn."""

from types import SimpleNamespace

import pytest

from backend.remoting.response_code import ResponseCode
from workers.broker.errors import Refusal
from workers.broker.shares.member_shares import MemberShares


class Hot:
    """The engine: it keeps what is proposed until that is settled."""

    def __init__(self):
        self.settled, self.withdrawn = [], []

    def settle_shares(self, numbers):
        self.settled.append(numbers)
        return []

    def withdraw_shares(self, records):
        self.withdrawn.append(records)


@pytest.fixture
def replica():
    """A replica whose master gives the answers that a test names, one after the other."""
    replica = SimpleNamespace(answers=[], hot=Hot(), told=[])

    async def ask_master(_code, _ext, _body):
        return replica.answers.pop(0)

    broker = SimpleNamespace(
        hot=replica.hot,
        settings=SimpleNamespace(broker_name="broker-t"),
        membership=SimpleNamespace(own_id=2, ask_master=ask_master),
        shares=SimpleNamespace(is_leading=False, is_acting=False),
    )
    replica.shares = MemberShares(broker)
    return replica


async def propose(replica):
    def settle(*, is_recorded):
        replica.told.append(is_recorded)

    await replica.shares._propose(([7], b"records"), settle)


async def test_an_answer_of_the_sequencer_that_cannot_be_read_leaves_the_outcome_unknown(replica):
    replica.answers = [SimpleNamespace(code=ResponseCode.SUCCESS, remark="", ext={})]

    await propose(replica)

    assert replica.told == [False]
    assert replica.hot.withdrawn == [b"records"]
    assert replica.hot.settled == [[7]]


async def test_a_master_without_the_lane_judges_no_records_so_that_members_send_them_again(replica):
    # A verdict would be final, although the next master may have the records.
    with pytest.raises(Refusal) as caught:
        await replica.shares.append(3, b"records")

    assert caught.value.code == ResponseCode.SERVICE_NOT_AVAILABLE
