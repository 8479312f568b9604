"""Name the requests to a controller as the metrics of RocketMQ do (control-plane.md 2.9)."""

from collections.abc import Mapping
from typing import Final

from backend.remoting.request_code import RequestCode

_PREFIX: Final = "controller_"
_ASKED_OF_CONTROLLERS: Final = (
    RequestCode.CONTROLLER_ALTER_SYNC_STATE_SET,
    RequestCode.CONTROLLER_ELECT_MASTER,
    RequestCode.CONTROLLER_REGISTER_BROKER,
    RequestCode.CONTROLLER_GET_REPLICA_INFO,
    RequestCode.CONTROLLER_GET_METADATA_INFO,
    RequestCode.CONTROLLER_GET_SYNC_STATE_DATA,
    RequestCode.BROKER_HEARTBEAT,
    RequestCode.UPDATE_CONTROLLER_CONFIG,
    RequestCode.GET_CONTROLLER_CONFIG,
    RequestCode.CLEAN_BROKER_DATA,
    RequestCode.CONTROLLER_GET_NEXT_BROKER_ID,
    RequestCode.CONTROLLER_APPLY_BROKER_ID,
)

# The port serves the name server too, so 904 includes the heartbeats for it.
CONTROLLER_REQUESTS: Final[Mapping[int, str]] = {
    code: _PREFIX + code.name.lower().removeprefix(_PREFIX) for code in _ASKED_OF_CONTROLLERS
}
