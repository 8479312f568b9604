"""The committer takes part as a consumer group, and a run without commits is no success."""

from types import SimpleNamespace

import pytest

from backend.remoting.request_code import RequestCode
from tests.chaos.committer import GROUP, Committer
from tests.chaos.journal import Acknowledgement, Journal
from tests.chaos.run import NotJudged, check_is_judged

UNKNOWN_GROUP = 26


class Master:
    """A broker that takes commits of groups that it knows, and forgets them once."""

    def __init__(self):
        self.groups, self.offsets = set(), {}

    async def heartbeat(self, group, *_topics):
        self.groups.add(group)
        return SimpleNamespace(code=0)

    async def call(self, code, fields):
        if code != RequestCode.UPDATE_CONSUMER_OFFSET:
            return SimpleNamespace(code=22, ext={})
        if fields["consumerGroup"] not in self.groups:
            return SimpleNamespace(code=UNKNOWN_GROUP, ext={})
        self.offsets[fields["queueId"]] = fields["commitOffset"]
        return SimpleNamespace(code=0, ext={})


async def test_the_committer_creates_its_group_also_at_a_broker_that_lost_it(tmp_path, eventually):
    master, journal = Master(), Journal(tmp_path / "journal")
    workload = SimpleNamespace(client_of=lambda _agent: master)
    committer = Committer(workload, journal, lambda: 1)

    def acknowledge(offset):
        journal.acknowledged(Acknowledgement(offset, 1, 0.0, 0.1, 0, offset, 100 * offset))

    acknowledge(0)
    committer.start()
    try:
        await eventually(lambda: master.offsets == {0: 1})
        assert master.groups == {GROUP}
        master.groups.clear()
        acknowledge(1)
        await eventually(lambda: len(journal.commits) == 2)
        acknowledge(2)
        await eventually(lambda: master.offsets == {0: 3})
    finally:
        await committer.close()
        journal.close()

    assert [one.is_taken for one in journal.commits] == [True, False, True]
    committer.check_alive()


def test_a_run_without_a_commit_is_not_judged():
    check_is_judged({"commit taken (I9)": 1, "message read (I8)": 5})

    with pytest.raises(NotJudged, match=r"never seen: commit taken \(I9\)"):
        check_is_judged({"commit taken (I9)": 0, "message read (I8)": 5})
