"""Ask the name servers of a cluster for the mapping of a static topic that clients see."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from backend.brokers.asking import Addressed, Brokers
from backend.brokers.requests.properties import GetNameServers
from backend.brokers.requests.routes import GetRoutedMappings
from backend.domain.logical_queue.mapping import MappingInfo


@dataclass(frozen=True, slots=True)
class NameServer:
    """Hold the address of a name server."""

    address: str


@dataclass(frozen=True, slots=True)
class SeenRoutes:
    """Hold the mappings in routes, by name server and broker group.

    `silent` are the name servers that did not answer, with the reason.
    """

    routes: Mapping[str, Mapping[str, MappingInfo]]
    silent: Mapping[str, str]


NO_ROUTES = SeenRoutes({}, {})


async def ask_routes(
    topic_name: str, masters: Collection[Addressed], brokers: Brokers
) -> SeenRoutes:
    """Ask each name server at which a master of the cluster registers."""
    configured = await brokers.ask_all(masters, GetNameServers())
    addresses = {one for named in configured.answers.values() for one in named}
    asked = [NameServer(one) for one in sorted(addresses)]
    answers = await brokers.ask_all(asked, GetRoutedMappings(topic_name))
    return SeenRoutes(
        {one.address: mappings or {} for one, mappings in answers.answers.items()},
        {one.address: error.reason for one, error in answers.silent.items()},
    )
