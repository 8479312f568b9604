"""Ask the name servers which members of the own broker group are alive (control-plane.md 5.2)."""

from regent_engine import Command

from backend.remoting import java_json
from backend.remoting.bodies import BrokerMemberGroup, TopicRouteData
from backend.remoting.headers import BrokerMemberGroupHeader, Header, RouteHeader, encode_header
from backend.remoting.java_json import InvalidJson
from backend.remoting.names import sync_member_topic
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.routing.name_servers import NameServers

Members = dict[int, str]
"""The addresses of members by id."""


async def ask_members(name_servers: NameServers, settings: BrokerSettings) -> Members | None:
    """Return the addresses of the living members by id; None if no name server answers.

    A member that any name server knows is in the answer. A name server that has just begun, or
    that a member does not reach, knows fewer members than the others.
    """
    header: Header
    if settings.knows_old_name_servers:
        code = RequestCode.GET_ROUTEINFO_BY_TOPIC
        header = RouteHeader(
            topic=sync_member_topic(settings.broker_name), accept_standard_json_only=True
        )
    else:
        code = RequestCode.GET_BROKER_MEMBER_GROUP
        header = BrokerMemberGroupHeader(
            cluster_name=settings.cluster_name, broker_name=settings.broker_name
        )
    members: Members = {}
    answers = await name_servers.ask_each(code, encode_header(header))
    read = [_read_members(settings, one) for one in answers]
    found = [one for one in read if one is not None]
    for one in found:
        members = one | members
    return members if found else None


def _read_members(settings: BrokerSettings, answer: Command) -> Members | None:
    """Return the members that one name server knows; None if its answer is of no use."""
    is_route = settings.knows_old_name_servers
    if is_route and answer.code == ResponseCode.TOPIC_NOT_EXIST:
        return {}
    if answer.code != ResponseCode.SUCCESS:
        return None
    try:
        if not is_route:
            return dict(java_json.decode(answer.body, BrokerMemberGroup).members.addresses)
        # The members of the topic of the group (control-plane.md 5.9).
        brokers = java_json.decode(answer.body, TopicRouteData).brokers
    except InvalidJson:
        return None
    wanted = (settings.cluster_name, settings.broker_name)
    found = [one for one in brokers if (one.cluster, one.broker_name) == wanted]
    return dict(found[0].addresses) if found else {}
