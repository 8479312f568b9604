"""The commands of `regent controller`."""

from backend.cli import controller_settings
from backend.cli.controllers import controller

__all__ = ["controller"]

controller_settings.register(controller)
