"""Define the errors of requests: a refusal, or an unknown outcome, with code and sentence."""

from collections.abc import Mapping

from backend.remoting.response_code import ResponseCode


class Refusal(Exception):
    """A request is refused; the dispatcher answers with the code, the sentence and more fields."""

    def __init__(
        self, code: ResponseCode, reason: str, ext: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(reason)
        self.code, self.ext = code, ext


class NotLeading(Refusal):
    """Another broker group leads the logical queue, or a change is about to say which one does."""

    def __init__(
        self, topic_name: str, global_id: int, reason: str, ext: Mapping[str, str] | None
    ) -> None:
        super().__init__(ResponseCode.NOT_LEADER_FOR_QUEUE, reason, ext)
        self.topic_name, self.global_id = topic_name, global_id


class GroupOffline(Refusal):
    """This broker has had no heartbeat of the consumer group of a pull."""

    def __init__(self, consumer_group_name: str) -> None:
        reason = f"the consumer's group info not exist: {consumer_group_name}"
        super().__init__(ResponseCode.SUBSCRIPTION_NOT_EXIST, reason)


class Unconfirmed(Exception):
    """A change was made here and may be lost; a repeated request gets the known outcome later."""

    def __init__(self, code: ResponseCode, reason: str) -> None:
        super().__init__(f"{reason}: ask again")
        self.code, self.ext = code, None
