"""Have the leader of a logical queue answer requests that clients sent to another broker group.

A client requests the route every 30 s, so after a move it may use a former leader for that time.
Clients without static topics send all requests to one broker group, which leads some of the queues
only (logical-queues.md 18.3). A sealed queue has no leader for a moment: its sends wait for one.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from regent_engine import Command

from backend.domain.logical_queue.broker_copy import BrokerTopic
from backend.domain.logical_queue.route import NO_BROKER, synthetic_broker_name
from backend.remoting.command import answer
from backend.remoting.errors import RemotingError
from backend.remoting.headers import PullMessageHeader, decode_header
from backend.remoting.headers.fencing import FENCE_FIELD
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.errors import NotLeading, Refusal
from workers.broker.logical.led_queue import HINT_FIELD, takes_sends
from workers.broker.logical.older_segments import CARRIES_SUBSCRIPTION
from workers.broker.logical.share_owning import is_given_away
from workers.broker.requests.caller import Caller
from workers.broker.routing.peers import NotSent
from workers.broker.routing.topic_routes import RouteUnknown

FORWARDED_FIELD: Final = "lqFwd"
"""Marks a forwarded request; its receiver does not forward it again (logical-queues.md 18.3)."""

WAIT_S_MAX: Final = 2.5
"""Stock clients wait 3 s for the answer to a send."""

RETRY_S: Final = 0.05
"""The time after which a leader that does not know yet that it is one is asked again."""

SUSPEND_MS_MAX: Final = 1_000
"""The longest time that a forwarded pull waits for messages at the leader."""

SEND_CODES: Final = frozenset(
    {RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE}
)
PULL_CODES: Final = frozenset({RequestCode.PULL_MESSAGE, RequestCode.LITE_PULL_MESSAGE})
POP_CODES: Final = frozenset({RequestCode.POP_MESSAGE, RequestCode.NOTIFICATION})
SHARE_CODES: Final = POP_CODES | {
    RequestCode.ACK_MESSAGE,
    RequestCode.BATCH_ACK_MESSAGE,
    RequestCode.CHANGE_MESSAGE_INVISIBLETIME,
}


def may_forward(command: Command) -> bool:
    """Return whether a request may go to another broker group; a step of an operation may not."""
    return FORWARDED_FIELD not in command.ext and FENCE_FIELD not in command.ext


async def forward(
    broker: Broker, caller: Caller, command: Command, refusal: NotLeading
) -> bytes | None:
    """Return the answer of the leader; None once this broker group leads the queue.

    Raises:
        Refusal: no broker group led the queue in time, or its master gave no answer.
    """
    search = LeaderSearch(broker, command, refusal, _fields(broker, caller, command))
    try:
        async with asyncio.timeout(WAIT_S_MAX):
            if not await search.run():
                return None
    except TimeoutError as error:
        if search.asked is None:
            raise refusal from error
        raise _unknown_outcome(search.asked, "there is no answer in time") from error
    reply = search.reply
    if reply is None:
        return b""
    return answer(command, code=reply.code, remark=reply.remark, ext=reply.ext, body=reply.body)


@dataclass(slots=True)
class LeaderSearch:
    """The search for the leader of a queue, which may have moved several times.

    A former leader knows the broker group that took the queue over from it, and so does that one.
    So each refusal names a later leader than the one before.
    """

    broker: Broker
    command: Command
    refusal: NotLeading
    fields: Mapping[str, str]
    body: bytes | None = None
    """Replaces the body of the request."""

    asked: str | None = None
    """The broker group whose answer is awaited."""

    reply: Command | None = None
    """The answer of the leader; None to a one-way request."""

    async def run(self) -> bool:
        """Ask until a broker group answers as leader; False if this one leads by now.

        Raises:
            Refusal: no leader is known, or it gave no answer.
        """
        topics, name = self.broker.static_topics, self.refusal.topic_name
        while (topic := topics.find(name)) is not None:
            if self._is_served(topic):
                return False
            queue = topic.mapping.queue(self.refusal.global_id)
            leader_name = None if queue is None else queue.leader_name
            if leader_name is None and (leader_name := await self._find_routed()) is None:
                break
            if await self._ask_along(leader_name):
                return True
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(RETRY_S):
                    await topics.await_change()
        raise self.refusal

    def _is_served(self, topic: BrokerTopic) -> bool:
        """Return whether this broker group serves the request; a sealed queue takes no sends."""
        global_id = self.refusal.global_id
        if self.command.code in SEND_CODES:
            return takes_sends(self.broker, topic, global_id)
        if self.command.code in SHARE_CODES and is_given_away(self.broker, topic, global_id):
            return False
        return topic.mapping.leads(global_id)

    async def _ask_along(self, name: str | None) -> bool:
        """Ask a former leader, then the broker group that its refusal names, and so on.

        False: the last one does not lead the queue yet, or it is this broker group.
        """
        names = {self.broker.settings.broker_name}
        while name is not None and name not in names:
            names.add(name)
            try:
                reply = await self._ask(name)
            except NotSent as error:
                routed = await self._find_routed()
                if routed is None or routed in names:
                    raise _unreachable(name, error) from error
                name = routed
                continue
            if reply is None or reply.code != ResponseCode.NOT_LEADER_FOR_QUEUE:
                self.reply = reply
                return True
            name = reply.ext.get(HINT_FIELD, "").rpartition("@")[0] or None
        return False

    async def _ask(self, name: str) -> Command | None:
        is_pull = self.command.code in PULL_CODES | POP_CODES
        peers = self.broker.pull_peers if is_pull else self.broker.peers
        self.asked = name
        try:
            reply = await peers.pass_on(name, self.command, self.fields, self.body)
        except NotSent:
            self.asked = None
            raise
        except (OSError, RemotingError, InvalidJson) as error:
            raise _unknown_outcome(name, str(error) or "the connection was lost") from error
        self.asked = None
        return reply

    async def _find_routed(self) -> str | None:
        topic_name, global_id = self.refusal.topic_name, self.refusal.global_id
        return await _find_routed_leader(self.broker, topic_name, global_id)


async def _find_routed_leader(broker: Broker, topic_name: str, global_id: int) -> str | None:
    """Return the leader of a queue that name servers know, if any; a negative id means any queue.

    Their answers of the last two seconds are used again.
    """
    topic, source = broker.static_topics.find(topic_name), broker.name_servers
    if topic is None or source is None or source.is_none:
        return None
    try:
        endpoints = await broker.routes.endpoints(topic_name, source)
    except RouteUnknown:
        return None
    scope = synthetic_broker_name(topic.info.scope)
    leaders = {
        found_id: name
        for (found_scope, found_id), name in endpoints.items()
        if found_scope == scope and name != NO_BROKER
    }
    if global_id < 0 and leaders:
        return broker.source.choice(sorted(leaders.values()))
    return leaders.get(global_id)


def _fields(broker: Broker, caller: Caller, command: Command) -> Mapping[str, str]:
    """Return the fields that change: a pull must not hold its place among requests for long."""
    fields = {FORWARDED_FIELD: "1"}
    if command.code in POP_CODES:
        wanted = command.ext.get("pollTime", "0")
        wanted_ms = int(wanted) if wanted.isdecimal() else 0
        fields["pollTime"] = str(min(wanted_ms, SUSPEND_MS_MAX))
    if command.code in PULL_CODES:
        wanted = command.ext.get("suspendTimeoutMillis", "0")
        wanted_ms = int(wanted) if wanted.isdecimal() else 0
        fields["suspendTimeoutMillis"] = str(min(wanted_ms, SUSPEND_MS_MAX))
        fields |= _subscription(broker, caller, command)
    return fields


def _subscription(broker: Broker, caller: Caller, command: Command) -> Mapping[str, str]:
    """Return the subscription of the caller: the leader may not know its consumer group."""
    header = decode_header(PullMessageHeader, command.ext)
    group = broker.consumers.find(header.consumer_group)
    if header.sys_flag & CARRIES_SUBSCRIPTION or group is None:
        return {}
    subscription = broker.consumers.subscription_of(group, caller, header.topic)
    if subscription is None:
        return {}
    return {
        "sysFlag": str(header.sys_flag | CARRIES_SUBSCRIPTION),
        "subscription": subscription.expression,
        "expressionType": subscription.expression_type,
        "subVersion": str(subscription.version),
    }


def _unknown_outcome(name: str, reason: str) -> Refusal:
    remark = (
        f"broker group {name} leads the queue and gave no answer, so it is unknown"
        f" whether it carried out the request: send it again ({reason})"
    )
    return Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, remark)


def _unreachable(name: str, error: NotSent) -> Refusal:
    remark = f"broker group {name} leads the queue and can't be reached: send it again ({error})"
    return Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, remark)
