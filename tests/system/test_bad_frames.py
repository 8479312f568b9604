"""Bytes that are no frames close their connection, cost no memory and harm no other client."""

import time

import psutil
import pytest

from tests.system.cluster import Cluster
from tests.system.peer import NOT_SUPPORTED, UNKNOWN_REQUEST, addresses, peer
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.system

FRAME_SIZE_MAX = 16 << 20
MEMORY_GROWTH_MAX = 48 << 20
CLAIMANT_COUNT = 64

BROKEN_FRAMES = {
    "noise": bytes(range(255, 0, -1)) * 40,
    "an http request": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "a length of two gigabytes": b"\x7f\xff\xff\xff" + b"\0" * 64,
    "a negative length": b"\xff\xff\xff\xf0" + b"\0" * 64,
    "a length above the limit": (FRAME_SIZE_MAX + 1).to_bytes(4, "big") + b"\0" * 64,
    "a length too small": b"\0\0\0\x03" + b"\0" * 64,
    "a header longer than its frame": b"\0\0\0\x10\0\0\xff\xff" + b"\0" * 64,
    "an unknown encoding": b"\0\0\0\x10\x07\0\0\x04" + b"\0" * 64,
    "a header that is no JSON": b"\0\0\0\x0c\0\0\0\x08{nothing" + b"\0" * 64,
    "a binary header cut short": b"\0\0\0\x0c\x01\0\0\x08" + b"\0" * 64,
}


@pytest.mark.usefixtures("nothing_is_written")
@pytest.mark.parametrize("data", BROKEN_FRAMES.values(), ids=BROKEN_FRAMES)
def test_broken_frames_close_the_connection_and_nothing_else(data: bytes, cluster: Cluster):
    closed, alive = [], []
    for address in addresses(cluster):
        with peer(address) as intact:
            with peer(address) as broken:
                broken.send_raw(data)
                closed.append(broken.is_closed_within(PATIENCE_S))
            alive.append(intact.ask(UNKNOWN_REQUEST).code)

    assert closed == [True, True]
    assert alive == [NOT_SUPPORTED] * 2


@pytest.mark.usefixtures("nothing_is_written")
def test_frames_cut_off_by_the_end_of_their_connection_have_no_effect(cluster: Cluster):
    address = cluster.brokers[0].address
    frame = b"\0\0\x10\0\0\0\0\x40" + b"{" * 200

    for size in (1, 3, 4, 7, 8, 100):
        with peer(address) as cut:
            cut.send_raw(frame[:size])

    with peer(address) as asker:
        assert asker.ask(UNKNOWN_REQUEST).code == NOT_SUPPORTED


def test_frames_that_only_claim_to_be_large_cost_no_memory(cluster: Cluster):
    claim = (FRAME_SIZE_MAX - 4).to_bytes(4, "big") + b"\0\0\0\x40" + b"{" * 1_000
    servers = {
        cluster.brokers[0].address: cluster.brokers[0].pid,
        cluster.name_server_address: next(
            one["pid"] for one in cluster.state["processes"] if one["name"] == "control-plane"
        ),
    }

    grown = {}
    for address, pid in servers.items():
        process = psutil.Process(pid)
        before = process.memory_info().rss
        claimants = [peer(address) for _ in range(CLAIMANT_COUNT)]
        for claimant in claimants:
            claimant.__enter__().send_raw(claim)
        with peer(address) as asker:
            # Once this is answered, the claims sent before it have most likely been read too.
            time.sleep(0.2)
            assert asker.ask(UNKNOWN_REQUEST).code == NOT_SUPPORTED
        grown[address] = process.memory_info().rss - before
        for claimant in claimants:
            claimant.__exit__(None, None, None)

    assert [address for address, size in grown.items() if size > MEMORY_GROWTH_MAX] == []
