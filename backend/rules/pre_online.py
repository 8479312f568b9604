"""Name what a broker without a controller does before it is online (control-plane.md 5.7)."""

from enum import StrEnum


class PreOnlinePhase(StrEnum):
    """Name a phase, as a broker reports it in its runtime information (28)."""

    DONE = ""
    NAME_SERVER = "name_server"
    MEMBERS = "members"
    ANNOUNCE = "announce"
    COPY = "copy"
    TAKE_OVER = "take_over"
    JOIN = "join"
