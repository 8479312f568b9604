"""The commands of `regent topic`."""

from backend.cli import topic_figures
from backend.cli.topics import topic

__all__ = ["topic"]

topic.command("backend.cli.topic_orders:create_topic", name="create")
topic.command("backend.cli.topic_orders:change_topic", name="set")
topic.command("backend.cli.topic_orders:delete_topic", name="delete")
topic_figures.register(topic)
topic.command("backend.cli.static_topics:static", name="static")
topic.command("backend.cli.protection_orders:protect_topic", name="protect")
topic.command("backend.cli.protection_orders:unprotect_topic", name="unprotect")
