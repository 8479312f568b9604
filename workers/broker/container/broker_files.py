"""Read the file of a broker that a container is to run, and refuse one that it can't run.

The remarks begin as those of stock, and go on with what was found.
"""

import dataclasses
from pathlib import Path
from typing import Final

from backend.remoting.response_code import ResponseCode
from workers.broker.configuration.declaration import InvalidSetting, read_properties
from workers.broker.configuration.settings import (
    BrokerSettings,
    LoadedSettings,
    parse_settings,
)
from workers.broker.container.settings import PATH_SEPARATOR, ContainerSettings
from workers.broker.errors import Refusal
from workers.broker.listening import PortInUse, bind, bind_one
from workers.broker.replication.identity import IdentityMismatch, check_identity

_NAME_SERVERS: Final = "namesrvAddr"
_ONLY_STOCK: Final = {
    "duplicationEnable": (
        "Can not add broker to container when duplicationEnable is true currently"
    ),
    "enableDLegerCommitLog": "only RocketMQ brokers keep a DLedger log; remove the line",
}


def check_path(text: str) -> Path:
    """Return the path of a broker file, as it is written to the list of the container.

    Raises:
        Refusal: there is no path, or a list can't name it.
    """
    if not text.strip():
        raise _refusal("addBroker config path is empty")
    path = Path(text.strip()).absolute()
    if PATH_SEPARATOR in str(path) or not str(path).isprintable():
        raise _refusal(f"a list of files, separated by colons, can't name the path {path}")
    return path


def read_broker_file(path: Path, container: ContainerSettings) -> LoadedSettings:
    """Read the settings of a broker, with the name servers of its container.

    Raises:
        Refusal: the file can't be read, or a container can't run a broker with its settings.
    """
    try:
        given = read_properties(path)
    except (OSError, InvalidSetting) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise _refusal(f"addBroker properties empty: {path}: {reason}") from error
    for name, reason in _ONLY_STOCK.items():
        if given.get(name, "").strip().lower() == "true":
            raise _refusal(reason)
    try:
        loaded = parse_settings(given)
    except InvalidSetting as error:
        raise _refusal(f"{path}: {error}") from error
    _check(loaded, path)
    if not container.name_servers:
        return loaded
    addresses = ";".join(f"{host}:{port}" for host, port in container.name_servers)
    return dataclasses.replace(
        loaded,
        settings=dataclasses.replace(loaded.settings, name_servers=container.name_servers),
        given={**given, _NAME_SERVERS: addresses},
    )


def check_store(settings: BrokerSettings) -> None:
    """Check that the store of a broker is not that of another broker group (S24).

    Raises:
        Refusal: it is.
    """
    try:
        check_identity(
            settings.root_dir, cluster_name=settings.cluster_name, broker_name=settings.broker_name
        )
    except IdentityMismatch as error:
        raise _refusal(str(error)) from error


def find_obstacles(settings: BrokerSettings) -> list[str]:
    """Return why a broker could not start now: its ports, or its store; blocks for a moment."""
    found = []
    try:
        for one in bind(settings.bind_address, settings.listen_port):
            one.close()
        ha_port = settings.ha_port_of(settings.listen_port)
        if settings.controller_mode or settings.is_master:
            bind_one(settings.bind_address, ha_port).close()
    except PortInUse as error:
        found.append(str(error))
    try:
        check_store(settings)
    except Refusal as error:
        found.append(str(error))
    return found


def _check(loaded: LoadedSettings, path: Path) -> None:
    """Check what stock's container checks, and a single broker does not (control-plane.md 5.11)."""
    settings = loaded.settings
    if settings.is_master != (settings.broker_id == 0):
        role = loaded.given.get("brokerRole", "ASYNC_MASTER")
        reason = f"brokerRole={role} does not fit brokerId={settings.broker_id}"
        raise _refusal(f"add broker return null: {path}: {reason}")
    total, wanted, least = (
        settings.replica_count,
        settings.in_sync_count,
        settings.in_sync_count_min,
    )
    if not total >= wanted >= least:
        reason = "totalReplicas >= inSyncReplicas >= minInSyncReplicas is needed"
        raise _refusal(f"invalid replicas number: {path}: {total}, {wanted}, {least}: {reason}")


def _refusal(reason: str) -> Refusal:
    return Refusal(ResponseCode.SYSTEM_ERROR, reason)
