"""Return recent counts of a topic or a consumer group (remoting.md 2.8: 315)."""

from regent_engine import Command

from backend.remoting import java_json
from backend.remoting.bodies import BrokerStatsData, BrokerStatsItem
from backend.remoting.command import answer
from backend.remoting.headers import BrokerStatsHeader, decode_header
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.metrics.meters import taken_in
from workers.broker.metrics.tally import DAY, HOUR, MINUTE, Span
from workers.broker.requests.caller import Caller
from workers.broker.requests.serving import serves


@serves(RequestCode.VIEW_BROKER_STATS_DATA, role=RequiredRole.ANY, passed_on=False, target=None)
def on_view_stats(broker: Broker, _caller: Caller, command: Command) -> bytes:
    """Return the counts of one key within the last minute, hour and day, or since the start."""
    header = decode_header(BrokerStatsHeader, command.ext)
    now_ms = broker.elapsed_ms()
    if not broker.meters.traffic.is_fresh(now_ms):
        take_counters(broker, now_ms)
    reported = BrokerStatsData(
        minute=_item(broker, header, MINUTE, now_ms),
        hour=_item(broker, header, HOUR, now_ms),
        day=_item(broker, header, DAY, now_ms),
    )
    return answer(command, body=java_json.encode(reported))


def take_counters(broker: Broker, now_ms: int) -> int:
    """Take over the counts of the store, and return the number of messages."""
    counters, meters = broker.store.counters(), broker.meters
    put_count, _ = taken_in(counters)
    meters.traffic.refresh(
        now_ms,
        counters,
        is_known=lambda name: broker.topics.find(name) is not None,
        cluster_name=broker.settings.cluster_name,
        whole=(put_count, meters.pull_count - meters.pull_miss_count, meters.messages_out),
    )
    return put_count


def _item(broker: Broker, header: BrokerStatsHeader, span: Span, now_ms: int) -> BrokerStatsItem:
    found = broker.meters.traffic.find(header.stats_name, header.stats_key, span, now_ms)
    if found is None:
        raise Refusal(
            ResponseCode.SYSTEM_ERROR,
            f"The stats <{header.stats_name}> <{header.stats_key}> not exist",
        )
    return BrokerStatsItem(total=found.total, rate=found.rate, average=found.average)
