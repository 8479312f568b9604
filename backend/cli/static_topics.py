"""The commands `regent topic static …`."""

from typing import Final

from cyclopts import App

static: Final = App(
    name="static",
    help="List, create, change, delete and check static topics, and move their queues.",
)
static.command("backend.cli.static_topic_lists:list_static_topics", name="list")
static.command("backend.cli.static_topic_orders:create_static_topic", name="create")
static.command("backend.cli.static_topic_orders:convert_topic", name="convert")
static.command("backend.cli.static_topic_orders:expand_static_topic", name="expand")
static.command("backend.cli.static_topic_orders:shrink_static_topic", name="shrink")
static.command("backend.cli.static_topic_orders:move_queues", name="move")
static.command("backend.cli.static_topic_orders:evacuate_broker_group", name="evacuate")
static.command("backend.cli.queue_mapping_files:export_static_topic", name="export")
static.command("backend.cli.static_topic_orders:import_static_topic", name="import")
static.command("backend.cli.static_topic_orders:delete_static_topic", name="delete")
static.command("backend.cli.static_topic_checks:check_static_topic", name="check")
