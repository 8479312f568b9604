"""Name how a broker group gets a broker that serves when its master is absent (D16)."""

from enum import StrEnum


class GroupMode(StrEnum):
    """Name the mode of a broker group."""

    STATIC = "static"
    ACTING_MASTER = "acting_master"
    CONTROLLER = "controller"
