"""Ask brokers whether they can be in another mode of their group, and switch them."""

from dataclasses import dataclass

from backend.brokers.asking import Request
from backend.brokers.change import Change
from backend.remoting.command import Command
from backend.remoting.headers import decode_header
from backend.remoting.headers.replication import SwitchModeAnswer, SwitchModeHeader
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.rules.group_mode import GroupMode


@dataclass(frozen=True, slots=True)
class Place:
    """Hold the place of a broker in its group in the other mode.

    `master_address` is None for the master. `founds` means that a controller does not know the
    group yet. `others` are the addresses of the other members.
    """

    mode: GroupMode
    broker_id: int
    replica_count: int
    master_address: str | None
    others: tuple[str, ...]
    founds: bool

    def header(self, *, is_trial: bool) -> SwitchModeHeader:
        """Write it as the header of a request."""
        is_master = self.master_address is None
        return SwitchModeHeader(
            mode=self.mode,
            broker_id=self.broker_id,
            replica_count=self.replica_count,
            master_address=self.master_address,
            others=",".join(self.others) if is_master and self.others else None,
            founds=self.founds,
            is_trial=is_trial,
        )


@dataclass(frozen=True, slots=True)
class ModeReport:
    """Hold the present mode of a broker, the end of its log, and what keeps it from switching.

    An obstacle may pass without an operator.
    """

    mode: GroupMode
    log_end: int
    obstacle: str | None
    obstacle_passes: bool = False


@dataclass(frozen=True, slots=True)
class TrySwitch(Request[ModeReport | None]):
    """Ask a broker whether it can take a place; None from a broker that knows no such request."""

    code = RequestCode.SWITCH_GROUP_MODE
    absence = ResponseCode.REQUEST_CODE_NOT_SUPPORTED

    place: Place

    @property
    def header(self) -> SwitchModeHeader:
        return self.place.header(is_trial=True)

    def read(self, response: Command) -> ModeReport:
        found = decode_header(SwitchModeAnswer, response.ext)
        return ModeReport(
            GroupMode(found.mode), found.log_end, found.obstacle, bool(found.obstacle_passes)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchMode(Change):
    """Have a broker take a place: it writes its settings, and starts again."""

    code = RequestCode.SWITCH_GROUP_MODE

    place: Place

    @property
    def header(self) -> SwitchModeHeader:
        return self.place.header(is_trial=False)
