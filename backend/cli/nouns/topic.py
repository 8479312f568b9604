"""The commands of `regent topic`."""

from backend.cli import protections, topic_figures, topic_orders
from backend.cli.topics import topic

__all__ = ["topic"]

topic_orders.register(topic)
topic_figures.register(topic)
protections.register_topic(topic)
