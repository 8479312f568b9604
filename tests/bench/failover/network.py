"""Where brokers run: all on the loopback address, or each behind a cable that can be pulled.

A pulled cable is what a broken switch is: packets vanish, and no connection closes. It takes a
network namespace for each broker, which needs root and the `ip` command.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

SUBNET = "10.213.77"
PREFIX_LENGTH = 24
ROUTER_HOST = 1
"""The address that is not behind a cable: probe and name servers."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one broker runs."""

    host: str
    launcher: tuple[str, ...] = ()
    """What its command begins with."""

    cable: str | None = None

    def pull(self) -> None:
        """Let nothing pass from now on, in either direction."""
        assert self.cable is not None, "only cables can be pulled"
        run_ip("link", "set", self.cable, "down")

    def plug(self) -> None:
        assert self.cable is not None, "only cables can be pulled"
        run_ip("link", "set", self.cable, "up")


@dataclass(frozen=True, slots=True)
class Network:
    """The host of what is not behind a cable, and a place for each broker."""

    host: str
    places: tuple[Place, ...]


def missing_for_cables() -> str | None:
    """Say what is missing to pull cables, or nothing."""
    if os.geteuid() != 0:
        return "partitions need root, for network namespaces"
    if shutil.which("ip") is None:
        return "partitions need the `ip` command; Debian: apt-get install iproute2"
    return None


def loopback(count: int) -> Network:
    return Network("127.0.0.1", tuple(Place("127.0.0.1") for _ in range(count)))


@contextmanager
def cabled(count: int) -> Iterator[Network]:
    """Make a bridge with a namespace for each broker on it, and take it all away afterwards."""
    tag = f"rg{os.getpid() % 100_000}"
    host = f"{SUBNET}.{ROUTER_HOST}"
    with ExitStack() as stack:
        run_ip("link", "add", tag, "type", "bridge")
        stack.callback(run_ip, "link", "del", tag)
        run_ip("addr", "add", f"{host}/{PREFIX_LENGTH}", "dev", tag)
        run_ip("link", "set", tag, "up")
        places = tuple(
            _add_place(stack, tag, number) for number in range(ROUTER_HOST + 1, count + 2)
        )
        yield Network(host, places)


def _add_place(stack: ExitStack, tag: str, number: int) -> Place:
    name, host = f"{tag}-{number}", f"{SUBNET}.{number}"
    within = ("-n", name)
    run_ip("netns", "add", name)
    stack.callback(run_ip, "netns", "del", name)
    run_ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
    run_ip("link", "set", name, "master", tag, "up")
    run_ip(*within, "addr", "add", f"{host}/{PREFIX_LENGTH}", "dev", "eth0")
    run_ip(*within, "link", "set", "eth0", "up")
    run_ip(*within, "link", "set", "lo", "up")
    return Place(host, launcher=("ip", "netns", "exec", name), cable=name)


def run_ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)
