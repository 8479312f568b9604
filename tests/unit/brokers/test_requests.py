"""Each request to brokers is declared once: its code, what it sends, and how its answer is read."""

import asyncio
import pkgutil
from dataclasses import fields
from importlib import import_module
from types import SimpleNamespace

import msgspec
import pytest

from backend.brokers import requests
from backend.brokers.asking import Brokers, Request, Round
from backend.brokers.change import Change, ChangedValues
from backend.brokers.errors import BrokerRefused, BrokerUnreachable
from backend.brokers.requests.consumer_groups import GetGroupSettings
from backend.brokers.requests.logical_queues import MoveRequest, QueueRequest
from backend.brokers.requests.offsets import GetCommittedOffsets, GetMaxOffset
from backend.brokers.requests.topics import DeleteTopicInBroker, GetGroupsOfTopic, GetTopicLayout
from backend.domain.operation_errors import ChangeRefused, OperationFenced

A, B, C = (SimpleNamespace(address=f"10.0.0.{number}:10911") for number in (1, 2, 3))
FENCE = {"regentOperation": "0" * 32, "regentStep": "delete", "regentFence": "7"}


class Wire:
    """Gives the answer that a test put into it, and notes what was sent."""

    def __init__(self, *answers):
        self.answers, self.sent = list(answers), []

    async def request(self, address, code, *, ext, body, **_more):
        self.sent.append((address, int(code), ext, body))
        reported = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(reported, Exception):
            raise reported
        return reported


def answer(code=0, *, ext=None, body=b"", remark="why"):
    return SimpleNamespace(code=code, ext=ext or {}, body=body, remark=remark)


ABSTRACT = {Request, Change, QueueRequest, MoveRequest}


def all_requests():
    names = [one.name for one in pkgutil.iter_modules(requests.__path__)]
    modules = [import_module(f"{requests.__name__}.{name}") for name in names]
    kinds = {one for module in modules for one in vars(module).values() if isinstance(one, type)}
    found = [one for one in kinds if issubclass(one, Request) and one not in ABSTRACT]
    return sorted(found, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", all_requests(), ids=lambda kind: kind.__name__)
def test_a_request_has_a_code_and_the_fields_that_its_header_needs(kind):
    own = {one.name for one in fields(kind)}
    header = kind.header_type
    needed = [] if header is None else msgspec.structs.fields(header)

    assert int(kind.code) > 0
    assert {one.name for one in needed if one.required} <= own
    assert header is None or own & {one.name for one in needed}


async def test_a_request_sends_its_code_and_the_fields_of_its_header():
    wire = Wire(answer(ext={"offset": "9"}))

    reported = await Brokers(wire).ask(A.address, GetMaxOffset(topic="T", queue_id=2))

    assert reported == 9
    assert wire.sent == [(A.address, 30, {"topic": "T", "queueId": "2"}, b"")]


async def test_a_change_carries_its_fence_and_returns_the_values_around_it():
    wire = Wire(answer(ext={"regentBefore": '{"a":1}', "regentAfter": "null"}))
    change = DeleteTopicInBroker(topic="T", only_empty=True, fence=FENCE)

    reported = await Brokers(wire).ask(A.address, change)

    [(_, code, ext, _)] = wire.sent
    assert reported == ChangedValues({"a": 1}, None)
    assert (code, ext["topic"]) == (215, "T")
    assert ext.items() >= FENCE.items()


async def test_a_change_that_a_broker_will_never_make_differs_from_one_that_it_did_not_make_now():
    change = DeleteTopicInBroker(topic="T", only_empty=True, fence=FENCE)

    async def error_of(response):
        with pytest.raises(Exception) as raised:
            await Brokers(Wire(response)).ask(A.address, change)
        return type(raised.value)

    assert await error_of(answer(16)) is ChangeRefused
    assert await error_of(answer(1)) is BrokerRefused
    assert await error_of(answer(7_001, ext={"regentHeldFence": "8"})) is OperationFenced


async def test_absence_is_an_answer_and_an_error_or_garbage_is_a_refusal():
    assert await Brokers(Wire(answer(1))).find(A.address, GetTopicLayout("T")) is None
    assert await Brokers(Wire(answer(26))).ask(A.address, GetGroupSettings("g")) is None
    with pytest.raises(BrokerRefused, match="code 1, why"):
        await Brokers(Wire(answer(1))).ask(A.address, GetGroupSettings("g"))
    with pytest.raises(BrokerRefused, match="its answer can't be read"):
        await Brokers(Wire(answer(body=b"{"))).ask(A.address, GetTopicLayout("T"))
    with pytest.raises(BrokerRefused, match="RocketMQ brokers do not report it"):
        await Brokers(Wire(answer(3))).ask(A.address, GetGroupsOfTopic("T"))


async def test_many_things_are_asked_of_one_broker_by_key():
    wire = Wire(answer(ext={"offset": "5"}), answer(22))
    asked = GetCommittedOffsets(consumer_group="g", topic="T", queue_ids=[3, 4])

    assert await Brokers(wire).ask(A.address, asked) == {3: 5, 4: None}


async def test_many_brokers_give_answers_and_the_reasons_of_the_silent():
    silence = BrokerUnreachable(B.address, "nobody listens")

    class Some(Brokers):
        async def ask(self, address, inquiry):
            if address == B.address:
                raise silence
            return inquiry.topic

    reported = await Some(None).ask_all([_key(A), _key(B), _key(C)], GetGroupsOfTopic("T"))

    assert dict(reported.answers) == {_key(A): "T", _key(C): "T"}
    assert dict(reported.silent) == {_key(B): silence}


async def test_a_broker_that_cannot_be_reached_is_asked_once_in_a_round_and_a_refusal_again():
    unreachable = BrokerUnreachable(A.address, "nobody listens")
    gone, refusing = Wire(unreachable), Wire(answer(1))

    for wire in (gone, refusing):
        asking = Round(Brokers(wire))
        for _ in range(2):
            await asking.ask(A, GetGroupsOfTopic("T"))

    assert (len(gone.sent), len(refusing.sent)) == (1, 2)


async def test_a_round_ends_at_its_deadline_also_for_who_waits_for_a_turn():
    asked = []

    class Never(Brokers):
        async def ask(self, address, _inquiry):
            asked.append(address)
            await asyncio.Event().wait()

    asking = Round(Never(None), at_once_max=1, patience_s=0.05)
    reported = await asking.ask_all([_key(A), _key(B)], GetGroupsOfTopic("T"))
    again = await asking.ask(A, GetGroupsOfTopic("T"))

    assert {one.reason for one in reported.silent.values()} == {"no answer within 0.05 s"}
    assert (len(reported.silent), again) == (2, reported.silent[_key(A)])
    assert asked[0] == A.address
    assert asked.count(A.address) == 1


def _key(broker):
    return Key(broker.address)


class Key(msgspec.Struct, frozen=True):
    address: str
