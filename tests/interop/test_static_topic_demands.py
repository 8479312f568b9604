"""What RocketMQ demands of static topics, by stock clients and tools against three of our brokers.

The demands are those of RocketMQ's own integration test of static topics, as far as they use the
wire: topics changed by mqadmin's commands at the brokers, and by our operations. One demand is left
out: a broker that led a queue two moves ago keeps its old list (logical-queues.md 11.3).
"""

import asyncio

import pytest

from backend.clients.clock import SystemClock
from backend.domain.operation import OperationState
from tests.integration.operations.agents import running_agents
from tests.interop.java import BROKER, build, class_path, jvm_options
from tests.long_form import chosen
from tests.pools import opened_database

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

NAMES = ("broker-a", "broker-b", "broker-c")
CASES_TIMEOUT_S = 300
COMMON = (
    "created",
    "remapped-to-all",
    "remapped-after-consuming",
    "other-brokers",
    "expanded",
    "positions-in-old-segments",
)
BY_TOOL = chosen((*COMMON, "undecided"), "created", "other-brokers", "undecided")
BY_ORDERS = chosen(
    COMMON,
    "remapped-to-all",
    "remapped-after-consuming",
    "expanded",
    "positions-in-old-segments",
)


@pytest.fixture
async def agents(database, database_url, redis, tmp_path):
    await asyncio.to_thread(build)
    async with (
        opened_database(database_url, application_name="workers") as workers,
        running_agents(database, workers, redis, tmp_path, SystemClock(), names=NAMES) as running,
    ):
        yield running


async def test_the_commands_of_mqadmin_change_topics_as_rocketmq_demands(agents, tmp_path):
    """L18, L59: where stock gives messages of an undecided queue no offset, ours refuses."""
    assert await run_cases(agents, tmp_path, "tool", BY_TOOL) == dict.fromkeys(BY_TOOL, "")


async def test_operations_change_topics_as_rocketmq_demands(agents, tmp_path):
    """L6, L11, L29, L59, L60: tools accept the mappings, and offsets have no gap."""
    assert await run_cases(agents, tmp_path, "orders", BY_ORDERS) == dict.fromkeys(BY_ORDERS, "")


async def run_cases(agents, home, mode, cases):
    """Run cases, and give the fault of each; an order is carried out for the program."""
    process = await asyncio.create_subprocess_exec(
        *("java", *jvm_options(BROKER), f"-Duser.home={home}", "-cp", class_path(BROKER)),
        *("regent.interop.StaticTopics", agents.server.address, mode, *NAMES, *cases),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    faults = {}
    try:
        async with asyncio.timeout(CASES_TIMEOUT_S):
            async for line in process.stdout:
                word, _, rest = line.decode().rstrip().partition(" ")
                if word == "case":
                    name, _, fault = rest.partition(" ")
                    faults[name] = fault
                elif word == "order":
                    await carry_out(agents, *rest.split(" "))
                    process.stdin.write(b"done\n")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return faults


async def carry_out(agents, change, topic, *arguments):
    names = arguments[-1].split(",")
    if change == "remap":
        planned = await agents.plan("move_queues", topic_name=topic, targets=names)
        if planned.plan.summary.startswith("No logical queue"):
            return
        await agents.confirm(planned)
        ended = await agents.end(planned.id)
    else:
        is_there = agents.agent().topics.find(topic) is not None
        kind = "expand_static_topic" if is_there else "create_static_topic"
        count = int(arguments[0])
        ended = await agents.order(kind, topic_name=topic, queue_count=count, broker_groups=names)
    assert ended.state is OperationState.DONE, ended.outcome
