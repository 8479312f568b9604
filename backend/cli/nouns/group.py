"""The commands of `regent group`."""

from backend.cli import group_views, protections, recorded_lags
from backend.cli.consumer_groups import group

__all__ = ["group"]

group_views.register(group)
recorded_lags.register(group)
protections.register_group(group)
