"""The commands `regent topic static …`."""

from typing import Final

from cyclopts import App

static: Final = App(
    name="static", help="List, create, expand and delete static topics, and move their queues."
)
static.command("backend.cli.static_topic_lists:list_static_topics", name="list")
static.command("backend.cli.static_topic_orders:create_static_topic", name="create")
static.command("backend.cli.static_topic_orders:expand_static_topic", name="expand")
static.command("backend.cli.static_topic_orders:move_queues", name="move")
static.command("backend.cli.static_topic_orders:delete_static_topic", name="delete")
