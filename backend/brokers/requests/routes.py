"""Ask name servers for what clients see of a static topic (logical-queues.md 17)."""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from backend.brokers.asking import Request
from backend.domain.logical_queue.mapping import MappingInfo
from backend.remoting import java_json
from backend.remoting.bodies import TopicRouteData
from backend.remoting.command import Command
from backend.remoting.headers import RouteHeader
from backend.remoting.headers.logical_queues import MAPPING_VERSION
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode


@dataclass(frozen=True, slots=True)
class GetRoutedMappings(Request[Mapping[str, MappingInfo] | None]):
    """Ask a name server for the mappings in the route of a topic, by broker group.

    An ordinary topic has none. A topic without a route gives None.
    """

    code = RequestCode.GET_ROUTEINFO_BY_TOPIC
    absence = ResponseCode.TOPIC_NOT_EXIST

    topic: str

    @property
    def header(self) -> RouteHeader:
        return RouteHeader(
            topic=self.topic, accept_standard_json_only=True, mapping_version=MAPPING_VERSION
        )

    def read(self, response: Command) -> Mapping[str, MappingInfo]:
        mappings = java_json.decode(response.body, TopicRouteData).topic_queue_mapping_by_broker
        return {
            name: MappingInfo(
                one.topic, one.broker_name, one.epoch, one.queue_count, one.scope, led=one.led
            )
            for name, one in ({} if mappings is msgspec.UNSET else mappings).items()
        }
