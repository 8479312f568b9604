"""Ask brokers how a consumer group receives a topic, and set it."""

from dataclasses import dataclass

from backend.brokers.asking import Request
from backend.brokers.change import Change
from backend.domain.share_queue import ConsumeMode, ConsumeSetting
from backend.remoting import java_json
from backend.remoting.bodies import RequestModeBody, RequestModeTable
from backend.remoting.command import Command
from backend.remoting.request_code import RequestCode


@dataclass(frozen=True, slots=True)
class GetConsumeMode(Request[ConsumeSetting | None]):
    """Ask a broker how a group receives a topic; None if no mode is set, which means PULL."""

    code = RequestCode.GET_ALL_MESSAGE_REQUEST_MODE

    topic: str
    consumer_group: str

    def read(self, response: Command) -> ConsumeSetting | None:
        table = java_json.decode(response.body or b"{}", RequestModeTable)
        found = table.modes.get(self.topic, {}).get(self.consumer_group)
        return None if found is None else consume_setting_of(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class PutConsumeMode(Change):
    """Set how a group receives a topic on a broker."""

    code = RequestCode.SET_MESSAGE_REQUEST_MODE

    topic: str
    consumer_group: str
    setting: ConsumeSetting

    @property
    def body(self) -> bytes:
        setting = self.setting
        order = RequestModeBody(
            consumer_group=self.consumer_group,
            mode=setting.mode,
            pop_share_queue_count=setting.shared_client_count,
            topic=self.topic,
        )
        return java_json.encode(order)


def consume_setting_of(body: RequestModeBody) -> ConsumeSetting:
    """Read a mode as brokers report it.

    Raises:
        ValueError: the mode is unknown.
    """
    return ConsumeSetting(ConsumeMode(body.mode), body.pop_share_queue_count)
