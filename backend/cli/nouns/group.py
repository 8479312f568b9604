"""The commands of `regent group`: consumer groups."""

from cyclopts import App

from backend.cli import group_views, recorded_lags

group = App(name=["group", "groups"], help="Show, create, change and delete consumer groups.")

group.command("backend.cli.consumer_group_orders:create_group", name="create")
group.command("backend.cli.consumer_group_orders:change_group", name="set")
group.command("backend.cli.consumer_group_orders:delete_group", name="delete")
group.command("backend.cli.share_queue_orders:set_consume_mode", name="mode")
group_views.register(group)
recorded_lags.register(group)
group.command("backend.cli.protection_orders:protect_group", name="protect")
group.command("backend.cli.protection_orders:unprotect_group", name="unprotect")
