"""G10: the p95 of every list and detail at 200 broker groups, asked 50 times a second.

The questions are the GET requests of the OpenAPI document and the queries of the console, with the
names of the loaded cluster. They are sent at an even pace, and none waits for the answer to the one
before. So a slow question delays the others, as it would for users.
"""

import asyncio
import os
import random
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from tests.bench.api_load import CLUSTER, KEY, TOPIC, answering_brokers, loaded_cluster
from tests.bench.control_plane import ControlPlane, running_control_plane
from tests.bench.measure import Measure
from tests.pages import Page, console_queries, rest_pages

PER_SECOND: Final = 50
ORDER_SEED: Final = 7
SECONDS: Final = 90.0
"""Enough for 53 answers of each page; of 18, the p95 would be the slowest but for a little."""
CEILING_MS: Final = 200.0
OPERATION_COUNT: Final = 200
PASSWORD: Final = "a password of the bench"
PARAMETERS: Final = {
    "cluster_name": CLUSTER,
    "broker_group_name": "group-117",
    "broker_name": "group-117-1",
    "broker_id": "1",
    "topic_name": TOPIC,
    "topic": TOPIC,
    "queue_id": "0",
    "consumer_group_name": "readers-17",
    "client_id": "127.0.0.1@readers-17",
    "client": "127.0.0.1@readers-17",
    "key": KEY,
    "user_name": "admin",
}
VARIABLES: Final[dict[str, Any]] = {
    "clusterName": CLUSTER,
    "brokerGroupName": "group-117",
    "brokerName": "group-117-1",
    "brokerId": 1,
    "topicName": TOPIC,
    "topic": TOPIC,
    "queueId": 0,
    "consumerGroup": "readers-17",
    "consumerGroupName": "readers-17",
    "name": "readers-17",
    "clientId": "127.0.0.1@readers-17",
    "chosen": {"clusterName": CLUSTER},
    "key": KEY,
    "isUnique": False,
    "form": "AUTO",
    "first": 50,
    "groupCount": 100,
}


@dataclass(slots=True)
class Answers:
    """How long the answers of one page took, in milliseconds, and what was wrong with them."""

    took_ms: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.took_ms, n=20)[-1]


def measure_api() -> list[Measure]:
    """Load a control plane and ask for every page; the slowest p95 is the figure."""
    with tempfile.TemporaryDirectory(prefix="regent-bench-") as directory:
        secret = Path(directory) / "secret"
        secret.write_text(PASSWORD)
        with (
            answering_brokers(Path(directory)) as brokers,
            running_control_plane(REGENT_BOOTSTRAP_SECRET_FILE=str(secret)) as plane,
            loaded_cluster(plane, brokers.port),
        ):
            answers = asyncio.run(_ask_all(plane, brokers.message_id))
    return [_measure(answers)]


async def _ask_all(plane: ControlPlane, message_id: str) -> dict[str, Answers]:
    base = f"http://127.0.0.1:{plane.http_port}"
    async with httpx.AsyncClient(base_url=base, timeout=30) as client:
        credentials = {"name": "admin", "password": PASSWORD}
        answer = await client.post("/api/v1/session?token=true", json=credentials)
        client.headers["Authorization"] = f"Bearer {answer.raise_for_status().json()['token']}"
        operation_id = await _plan_operations(client)
        document = (await client.get("/api/v1/openapi.json")).raise_for_status().json()
        known = {"operation_id": operation_id, "message_id": message_id}
        asked = {"id": operation_id, "messageId": message_id}
        requests = rest_pages(document, PARAMETERS | known) + console_queries(VARIABLES | asked)
        answers: dict[str, Answers] = defaultdict(Answers)
        for request in requests:
            await _ask(client, request, Answers())
        await _ask_at_a_pace(client, requests, answers)
    return answers


async def _plan_operations(client: httpx.AsyncClient) -> str:
    """Fill the lists of operations and of the audit; give the id of one."""
    operation_id = ""
    for number in range(OPERATION_COUNT):
        parameters = {
            "cluster_name": CLUSTER,
            "topic_name": f"planned-{number}",
            "broker_groups": [f"group-{number % 200}"],
        }
        order = {"kind": "create_topic", "parameters": parameters}
        answer = await client.post("/api/v1/operations", json=order)
        if answer.is_error:
            raise RuntimeError(f"no plan: {answer.text}")
        operation_id = answer.json()["id"]
    return operation_id


async def _ask_at_a_pace(
    client: httpx.AsyncClient, requests: list[Page], answers: dict[str, Answers]
) -> None:
    began_at = time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for number, request in enumerate(_in_any_order(requests)):
            due_at = began_at + number / PER_SECOND
            if due_at > began_at + SECONDS:
                return
            await asyncio.sleep(max(0.0, due_at - time.perf_counter()))
            tasks.create_task(_ask(client, request, answers[request.name]))


def _in_any_order(requests: list[Page]) -> Iterator[Page]:
    """Ask for each page as often as for any other, and one after another as chance has it.

    Always in one order, the few that ask all brokers, which are neighbours by their names, would
    always wait for each other.
    """
    chance = random.Random(ORDER_SEED)
    while True:
        yield from chance.sample(requests, len(requests))


async def _ask(client: httpx.AsyncClient, request: Page, answers: Answers) -> None:
    began_at = time.perf_counter()
    if request.query is None:
        answer = await client.get(request.path)
    else:
        answer = await client.post(request.path, json=request.query)
    answers.took_ms.append((time.perf_counter() - began_at) * 1e3)
    if answer.is_error or (request.query is not None and "errors" in answer.json()):
        answers.faults.append(answer.text[:300])


def _measure(answers: dict[str, Answers]) -> Measure:
    slowest = sorted(answers.items(), key=lambda one: -one[1].p95)
    faulty = {name: one.faults[0] for name, one in answers.items() if one.faults}
    if faulty:
        raise RuntimeError(f"pages without an answer: {faulty}")
    return Measure(
        "G10",
        "p95 of the slowest page, in ms",
        slowest[0][1].p95,
        ceiling=CEILING_MS,
        facts={
            "slowest": "; ".join(f"{name} {one.p95:.0f}" for name, one in slowest[:8]),
            "pages": len(answers),
            "requests a second": PER_SECOND,
            "requests of each page": min(len(one.took_ms) for one in answers.values()),
            "slowest answer of all, in ms": f"{max(max(o.took_ms) for o in answers.values()):.0f}",
        },
        blocks=[
            {"page": name, "p95_ms": one.p95, "median_ms": statistics.median(one.took_ms)}
            for name, one in slowest
        ],
    )


if __name__ == "__main__":
    sys.stdout.write("".join(f"{measured.line()}\n" for measured in measure_api()))
    sys.exit(os.EX_OK)
