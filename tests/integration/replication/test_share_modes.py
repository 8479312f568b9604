"""PRIMARY and SHARED mode give the same result: one randomized script runs in both (O57)."""

import asyncio
import os

import pytest

from backend.domain.share_mode import ShareMode
from backend.services.share_queue.leases import hand_over_leases
from tests.integration.replication.scripts import MEMBERS, Script

SEED_COUNT = int(os.environ.get("REGENT_SHARE_SCRIPTS", "3"))
"""The scripts that run; `make soak SOAK=modes` runs more."""

AT_ONCE = 3
MESSAGE_COUNT = 36
FIRST_SEED = int(os.environ.get("REGENT_SHARE_SCRIPT_SEED", "57"))


async def hand_over(group, scripts):
    """Have each share queue go to the other member; in PRIMARY mode they are the master's."""
    database = group.name_server.controller.database
    for script in scripts:
        if script.mode is ShareMode.SHARED:
            successor_id = MEMBERS[script.seed % len(MEMBERS)]
            for name in script.share_queues():
                await hand_over_leases(
                    [name], "TestCluster", group.name, successor_id, database=database
                )


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("first", range(0, SEED_COUNT, AT_ONCE))
async def test_o57_a_script_gives_the_same_result_in_both_modes(group, first):
    # Q8 to Q12: nothing is lost, nothing comes again, by a hand-over and by a failover.
    seeds = range(FIRST_SEED + first, FIRST_SEED + min(first + AT_ONCE, SEED_COUNT))
    await group.add_many(len(MEMBERS))
    masters = [1]
    scripts = [
        Script(group, mode, seed, MESSAGE_COUNT, lambda: masters[-1])
        for seed in seeds
        for mode in ShareMode
    ]
    half = MESSAGE_COUNT // 2
    for script in scripts:
        await script.create()
        await script.send(1, slice(half))
    for script in scripts:
        script.start()

    await asyncio.gather(*(script.await_share(0.1) for script in scripts))
    await hand_over(group, scripts)
    await asyncio.gather(*(script.await_share(0.2) for script in scripts))
    group.kill(1)
    masters.append((await group.await_master(2))[0])
    await group.start(1)
    await asyncio.gather(*(script.send(masters[-1], slice(half, None)) for script in scripts))
    results = [await script.await_end() for script in scripts]

    for script, result in zip(scripts, results, strict=True):
        assert (result.finished, result.dead) == script.expected, script.topic
        assert not result.again, (script.topic, result.again)
    for primary, shared in zip(results[::2], results[1::2], strict=True):
        assert (primary.finished, primary.dead) == (shared.finished, shared.dead)
