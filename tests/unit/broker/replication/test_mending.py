"""When a damaged log is tried again, and what is said meanwhile."""

import pytest
from regent_engine import StoreError
from structlog.testing import capture_logs

from workers.broker.replication import mending
from workers.broker.replication.controller_client import ReplicaGroupState
from workers.broker.replication.follower import Obstacle
from workers.broker.replication.mending import mend

OWN_ID = 2
LED = ReplicaGroupState(1, "master:10911", 3, None)


@pytest.fixture(autouse=True)
def no_rest(monkeypatch):
    monkeypatch.setattr(mending, "RETRY_S", 0)


def one_by_one(*outcomes):
    """Give or raise the next of some outcomes with each call."""
    left = list(outcomes)

    async def ask(*_given):
        outcome = left.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return ask


@pytest.mark.parametrize(
    "no_group",
    [
        ReplicaGroupState(None, None, 3, None),
        ReplicaGroupState(1, None, 3, None),
        ReplicaGroupState(OWN_ID, "own:10911", 3, None),
    ],
)
async def test_nothing_is_mended_before_another_broker_leads(no_group):
    mended_from, reported = [], []

    async def mend_from(group):
        mended_from.append(group)

    with capture_logs() as logs:
        await mend(
            OWN_ID,
            ask_group=one_by_one(no_group, no_group, LED),
            mend_from=mend_from,
            report=reported.append,
        )

    assert mended_from == [LED]
    assert [entry["event"] for entry in logs] == ["log_not_mended", "log_mended"]
    assert "no other broker leads" in logs[0]["reason"]
    assert "cutDamageAt" in logs[0]["reason"]
    assert reported == [logs[0]["reason"]]


async def test_each_reason_is_reported_once_until_another_takes_its_place():
    failures = (
        ConnectionRefusedError("it is gone"),
        ConnectionRefusedError("it is gone"),
        TimeoutError(),
        Obstacle("it can't"),
        StoreError("the disk refused"),
    )
    attempts, reported = len(failures) + 1, []

    with capture_logs() as logs:
        await mend(
            OWN_ID,
            ask_group=one_by_one(*[LED] * attempts),
            mend_from=one_by_one(*failures, None),
            report=reported.append,
        )

    reasons = [entry["reason"] for entry in logs if entry["event"] == "log_not_mended"]
    assert reasons == ["it is gone", "TimeoutError", "it can't", "the disk refused"] == reported


async def test_what_is_no_failure_of_an_attempt_ends_it():
    with pytest.raises(ZeroDivisionError):
        await mend(
            OWN_ID,
            ask_group=one_by_one(LED),
            mend_from=one_by_one(ZeroDivisionError()),
            report=lambda _reason: None,
        )
