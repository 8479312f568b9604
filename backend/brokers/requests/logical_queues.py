"""Have brokers move logical queues, and ask them for their copies (logical-queues.md 9.4, 9.5).

The epoch of the change fences every request, so none needs a fencing number. A repeated request
gives the same answer.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from backend.brokers.asking import Request
from backend.brokers.change import REFUSALS
from backend.brokers.errors import UnexpectedAnswer
from backend.brokers.requests.topics import attribute_changes, layout_of
from backend.domain.logical_queue.broker_copy import BrokerTopic
from backend.domain.logical_queue.commit import Prepared, Seal
from backend.domain.logical_queue.errors import InvalidQueueMapping, QueueEpochFenced
from backend.domain.logical_queue.mapping import BrokerMapping
from backend.domain.logical_queue.stock_json import decode_mapping, encode_mapping
from backend.domain.operation_errors import ChangeRefused
from backend.domain.topic_layout import TopicLayout
from backend.remoting import java_json
from backend.remoting.bodies import StaticTopicConfig
from backend.remoting.command import Command
from backend.remoting.headers import FencedAnswer, Header, decode_header
from backend.remoting.headers.logical_queues import (
    MAPPING_VERSION,
    LogicalQueueHeader,
    LogicalQueuesHeader,
    PreparedQueueAnswer,
    PrepareLogicalQueueHeader,
    RetirePhysicalQueueHeader,
    SealedQueueAnswer,
    StaticTopicHeader,
    TopicConfigHeader,
)
from backend.remoting.names import TEMPLATE_TOPIC
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode

AnswerT_co = TypeVar("AnswerT_co", covariant=True)


@dataclass(frozen=True, slots=True)
class StaticTopic:
    """Hold the layout of a topic on one broker group, and its mapping; None if it is not static."""

    layout: TopicLayout
    mapping: BrokerMapping | None


class QueueRequest(Request[AnswerT_co]):
    """Declare a request that changes logical queues; the epoch of the change fences it."""

    __slots__ = ()

    @property
    @abstractmethod
    def change(self) -> tuple[str, int]:
        """Return the topic and the epoch of the change."""

    def answer(self, address: str, response: Command) -> AnswerT_co:
        """Return the value of a response.

        Raises:
            QueueEpochFenced: the broker knows a newer change.
            ChangeRefused: the broker did not make the change, and never will.
            BrokerRefused: the broker did not make the change this time.
        """
        if response.code == ResponseCode.OPERATION_FENCED:
            held = decode_header(FencedAnswer, response.ext).held_fence
            topic_name, epoch = self.change
            raise QueueEpochFenced(topic_name, epoch, held=held)
        if response.code in REFUSALS:
            raise ChangeRefused(address, response.remark or f"code {response.code}")
        return Request.answer(self, address, response)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreMapping(QueueRequest[None]):
    """Store the mapping and the layout of a static topic on a broker (M4, M5).

    The broker registers at every name server before it answers. With `is_final` no move of the
    change is open, and the mapping has every queue that the broker group leads. Attributes are sent
    as changes of the present layout, since some can only be set at the creation of a topic.
    """

    code = RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC

    layout: TopicLayout
    mapping: BrokerMapping
    present: TopicLayout | None = None
    is_forced: bool = False
    is_final: bool = False

    @property
    def change(self) -> tuple[str, int]:
        return self.mapping.info.topic_name, self.mapping.info.epoch

    @property
    def header(self) -> StaticTopicHeader:
        layout = self.layout
        return StaticTopicHeader(
            topic=self.mapping.info.topic_name,
            default_topic=TEMPLATE_TOPIC,
            read_queue_count=layout.read_queue_count,
            write_queue_count=layout.write_queue_count,
            permissions=layout.permissions,
            filter_type=layout.filter_type,
            topic_sys_flag=layout.topic_sys_flag,
            is_ordered=layout.is_ordered,
            attributes=attribute_changes(self.present, layout),
            force=self.is_forced,
            mapping_version=MAPPING_VERSION,
            is_final=self.is_final,
        )

    @property
    def body(self) -> bytes:
        return encode_mapping(self.mapping).encode()

    def read(self, _response: Command) -> None:
        return None


@dataclass(frozen=True, slots=True)
class GetStaticTopic(Request[StaticTopic | None]):
    """Ask a broker for the layout and the mapping of a topic; None if it has no such topic."""

    code = RequestCode.GET_TOPIC_CONFIG
    header_type = TopicConfigHeader
    absence = ResponseCode.TOPIC_NOT_EXIST

    topic: str
    is_logical: bool = True
    mapping_version: int = MAPPING_VERSION

    def read(self, response: Command) -> StaticTopic:
        config = java_json.decode(response.body, StaticTopicConfig)
        if config.mapping is None:
            return StaticTopic(layout_of(config), None)
        try:
            mapping = decode_mapping(java_json.encode(config.mapping).decode())
        except InvalidQueueMapping as error:
            raise UnexpectedAnswer(str(error)) from error
        return StaticTopic(layout_of(config), mapping)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveRequest(QueueRequest[AnswerT_co]):
    """Declare a request of the move of one logical queue."""

    header_type: ClassVar[type[Header] | None] = LogicalQueueHeader

    topic: str
    global_id: int
    epoch: int

    @property
    def change(self) -> tuple[str, int]:
        return self.topic, self.epoch


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepareLogicalQueue(MoveRequest[Prepared]):
    """Reserve a physical queue for a logical one: a retired one that is empty, else a new one."""

    code = RequestCode.PREPARE_LOGICAL_QUEUE
    header_type = PrepareLogicalQueueHeader

    is_reuse_across_allowed: bool = False

    def read(self, response: Command) -> Prepared:
        answered = decode_header(PreparedQueueAnswer, response.ext)
        return Prepared(answered.queue_id, answered.start_offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class SealLogicalQueue(MoveRequest[Seal]):
    """Stop new messages of a logical queue, and return its final end, in physical offsets.

    A broker that can't drain the queue within 5 s refuses for now, and a client may give up before.
    The seal stays, and a repeated request continues the wait.
    """

    code = RequestCode.SEAL_LOGICAL_QUEUE

    def read(self, response: Command) -> Seal:
        answered = decode_header(SealedQueueAnswer, response.ext)
        return Seal(answered.final_offset, answered.first_stored_ms, answered.last_stored_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsealLogicalQueue(MoveRequest[None]):
    """Remove the seal of an older change; the epoch is higher than that of the seal."""

    code = RequestCode.UNSEAL_LOGICAL_QUEUE

    def read(self, _response: Command) -> None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscardLogicalQueue(MoveRequest[None]):
    """Drop the physical queue that an older or equal change reserved for a logical one."""

    code = RequestCode.DISCARD_LOGICAL_QUEUE

    def read(self, _response: Command) -> None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class RetirePhysicalQueue(MoveRequest[None]):
    """Have a broker remember a physical queue without data, so that it may be used again.

    The broker drops the positions of consumer groups there. The epoch is that of the mapping.
    """

    code = RequestCode.RETIRE_PHYSICAL_QUEUE
    header_type = RetirePhysicalQueueHeader

    queue_id: int
    generation: int
    final_offset: int

    def read(self, _response: Command) -> None:
        return None


@dataclass(frozen=True, slots=True)
class GetLogicalQueues(Request[Mapping[str, BrokerTopic]]):
    """Ask a broker for all that it keeps of its static topics, or of one of them, by topic."""

    code = RequestCode.GET_LOGICAL_QUEUES
    header_type = LogicalQueuesHeader

    topic: str | None = None

    def read(self, response: Command) -> Mapping[str, BrokerTopic]:
        return java_json.decode(response.body, dict[str, BrokerTopic])
