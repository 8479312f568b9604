"""Read the settings of a broker container from its file (control-plane.md 7.4)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from backend.remoting.address import Address
from workers.broker.configuration.declaration import (
    ALL_ADDRESSES,
    local_ip,
    parse_addresses,
    parse_ip,
    parse_port,
    parse_text,
    read_properties,
    read_values,
    stock,
)

CONFIG_PATHS: Final = "brokerConfigPaths"
PATH_SEPARATOR: Final = ":"


def split_paths(text: str) -> tuple[str, ...]:
    """Return the paths of a list of broker files."""
    return tuple(part.strip() for part in text.split(PATH_SEPARATOR) if part.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerSettings:
    """All settings of a broker container; each field names its stock property.

    The name servers are those of all brokers of the container. If the container names none, each
    broker has those in its file.
    """

    bind_address: str = stock("bindAddress", parse_text, ALL_ADDRESSES, "fixed")
    listen_port: int = stock("listenPort", parse_port, 10811, "fixed")
    advertised_ip: str = stock("brokerContainerIP", parse_ip, local_ip, "fixed")
    name_servers: tuple[Address, ...] = stock("namesrvAddr", parse_addresses, (), "fixed")
    config_paths: tuple[str, ...] = stock(CONFIG_PATHS, split_paths, (), "fixed")


@dataclass(frozen=True, slots=True)
class LoadedContainer:
    """Settings, what the file says, and the properties in it that have no effect here."""

    settings: ContainerSettings
    given: Mapping[str, str]
    unused: tuple[str, ...]


def load_container(path: Path) -> LoadedContainer:
    """Read the file of a container.

    Raises:
        InvalidSetting: names the property and the error.
        OSError: the file cannot be read.
    """
    given = read_properties(path)
    settings = ContainerSettings(**read_values(ContainerSettings, given))
    known = {entry.metadata["property"] for entry in fields(ContainerSettings)}
    return LoadedContainer(settings, given, tuple(sorted(given.keys() - known)))
