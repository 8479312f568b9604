"""Export the figures of a controller to Prometheus under RocketMQ's names (control-plane.md 2.9).

Dashboards and alerts for RocketMQ controllers work unchanged. Two names are missing: `dledger_…` is
about a log that does not exist here, and an unknown value is never shown as zero.
"""

from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from backend.api.context import NameServerView
from backend.domain.controller_figures import (
    LATENCY_BOUNDS_US,
    ControllerFigures,
    Latencies,
)

ROLE_LEADER: Final = 3
"""The value of leader among the roles: each process serves every request (D1)."""


class ControllerCollector(Collector):
    """Read the figures of the controller at each request for metrics."""

    def __init__(self, name_server: NameServerView) -> None:
        self._name_server = name_server

    def describe(self) -> list[Metric]:
        """Return no names in advance."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the present figures."""
        figures = self._name_server.describe_controller()
        yield GaugeMetricFamily(
            "role",
            "Role of this controller. Each controller is a leader, which is 3.",
            value=ROLE_LEADER,
        )
        yield _active_brokers(figures)
        yield _requests(figures)
        yield _latencies(figures)
        yield _elections(figures)


def _active_brokers(figures: ControllerFigures) -> Metric:
    gauge = GaugeMetricFamily(
        "active_broker_num",
        "Live replicas whose heartbeats this process gets.",
        labels=("cluster", "broker_set"),
    )
    for labels, count in figures.active_broker_counts.items():
        gauge.add_metric(labels, count)
    return gauge


def _requests(figures: ControllerFigures) -> Metric:
    counter = CounterMetricFamily(
        "request_total",
        "Requests to the controller that were handled; a refusal is a success.",
        labels=("request_type", "request_handle_status"),
    )
    for (name, status), count in figures.requests.counts.items():
        counter.add_metric([name, status], count)
    return counter


def _latencies(figures: ControllerFigures) -> Metric:
    histogram = HistogramMetricFamily(
        "request_latency",
        "Time in microseconds that the handling of a request took.",
        labels=("request_type",),
    )
    for name, latencies in figures.requests.latencies.items():
        histogram.add_metric([name], _buckets(latencies), latencies.sum_us)
    return histogram


def _elections(figures: ControllerFigures) -> Metric:
    counter = CounterMetricFamily(
        "election_total",
        "Elections that this process carried out.",
        labels=("cluster", "broker_set", "election_result"),
    )
    for labels, count in figures.elections.counts.items():
        counter.add_metric(labels, count)
    return counter


def _buckets(latencies: Latencies) -> list[tuple[str, float]]:
    bounds = [*(str(float(bound)) for bound in LATENCY_BOUNDS_US), "+Inf"]
    return list(zip(bounds, accumulate(latencies.counts), strict=True))
