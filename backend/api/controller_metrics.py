"""Show a controller's figures to Prometheus under stock's names (control-plane.md 2.9).

Boards and alerts that were made for stock's controllers go on working. Two names are missing:
`dledger_…` would speak of a log that there is none of here, and nothing unknown is shown as zero.
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
"""Of unknown, candidate, follower and leader; each process carries out every request (D1)."""


class ControllerCollector(Collector):
    """Read the controller's figures when they are asked for."""

    def __init__(self, name_server: NameServerView) -> None:
        self._name_server = name_server

    def describe(self) -> list[Metric]:
        """Name no metric ahead of time."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the figures of this moment."""
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
