"""Count requests, and export figures of the process for Prometheus.

Labels come from routes and known names, never from the values of a caller.
"""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from starlette.types import Scope

from backend.api.context import NameServerView
from backend.api.controller_metrics import ControllerCollector
from backend.api.gate import API_PREFIX

DURATION_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
KNOWN_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """Hold the metrics of one process."""

    def __init__(self, name_server: NameServerView) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        self._registry.register(_NameServerCollector(name_server))
        self._registry.register(ControllerCollector(name_server))
        self._requests = Counter(
            "regent_http_requests",
            "HTTP requests answered.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._durations = Histogram(
            "regent_http_request_duration_seconds",
            "Time from a request's head to the end of its answer.",
            ("method", "route"),
            buckets=DURATION_BUCKETS_S,
            registry=self._registry,
        )

    def count_request(self, scope: Scope, status: int, duration_s: float) -> None:
        """Count one answered request."""
        route = _route(scope)
        method = scope["method"] if scope["method"] in KNOWN_METHODS else "OTHER"
        self._requests.labels(method, route, str(status)).inc()
        self._durations.labels(method, route).observe(duration_s)

    def render(self) -> bytes:
        """Write all metrics as text."""
        return generate_latest(self._registry)


def _route(scope: Scope) -> str:
    path = getattr(scope.get("route"), "path", "unrouted")
    # A route knows only its path within its router.
    is_resource = scope["path"].startswith(API_PREFIX) and not path.startswith(API_PREFIX)
    return API_PREFIX + path if is_resource else str(path)


class _NameServerCollector(Collector):
    """Read the figures of the name server at each request for metrics."""

    def __init__(self, name_server: NameServerView) -> None:
        self._name_server = name_server

    def describe(self) -> list[Metric]:
        """Return no names in advance."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the present figures."""
        status = self._name_server.describe()
        gauges = {
            "connections": status.connection_count,
            "brokers": status.broker_count,
            "topics": status.topic_count,
            "route_version": status.route_version,
        }
        for name, value in gauges.items():
            gauge = GaugeMetricFamily(f"regent_name_server_{name}", f"Name server: {name}.")
            gauge.add_metric([], value)
            yield gauge
        answers = CounterMetricFamily(
            "regent_name_server_answers",
            "Requests carried out, by request and response code.",
            labels=("request", "code"),
        )
        for (request, code), count in status.answer_counts.items():
            answers.add_metric([request, str(code)], count)
        yield answers
