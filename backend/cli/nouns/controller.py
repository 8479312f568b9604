"""The commands of `regent controller`."""

from backend.cli import controller_settings
from backend.cli.controllers import controller

__all__ = ["controller"]

controller.command("backend.cli.controller_orders:elect_master", name="elect")
controller.command("backend.cli.controller_orders:prefer_master", name="prefer")
controller.command("backend.cli.controller_orders:forget_replicas", name="forget")
controller.command("backend.cli.controller_orders:switch_group_mode", name="switch")
controller.command("backend.cli.controller_orders:upgrade_broker_group", name="upgrade")
controller.command("backend.cli.controller_orders:lower_protocol_version", name="lower-version")
controller_settings.register(controller)
