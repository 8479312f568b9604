"""Ask acting masters which messages wait for a master of another broker group."""

from dataclasses import dataclass

from backend.brokers.asking import Request
from backend.domain.outbox import OutboxTopic
from backend.remoting import java_json
from backend.remoting.bodies.outbox import OutboxBody
from backend.remoting.command import Command
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode


@dataclass(frozen=True, slots=True)
class GetOutbox(Request[tuple[OutboxTopic, ...]]):
    """Ask a broker for its outbox; a stock broker has none."""

    code = RequestCode.GET_OUTBOX
    absence = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
    nothing = ()

    def read(self, response: Command) -> tuple[OutboxTopic, ...]:
        body = java_json.decode(response.body, OutboxBody)
        return tuple(
            OutboxTopic(
                kind=one.kind,
                topic=one.topic,
                entry_count=one.entry_count,
                oldest_age_ms=one.oldest_age_ms,
                failure_count=one.failure_count,
                last_failure=one.last_failure,
                next_attempt_in_ms=one.next_attempt_in_ms,
            )
            for one in body.topics
        )
