"""Hand task names and ids to Celery.

Celery only carries: a lost message is sent again from the row that asked for it (D20).
"""

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from celery import Celery

SEND_DEADLINE_S: Final = 5
EXPIRY_S: Final = 60
"""A message that no worker took by then expires; its request is sent again."""
REPORT_QUEUE: Final = "capacity"
MAINTENANCE_QUEUE: Final = "maintenance"
QUEUES_BY_TASK: Final = {"capacity.run": REPORT_QUEUE}


class TaskQueueUnavailable(Exception):
    """No worker will hear of the task: the queue did not take it."""

    def __init__(self, task_name: str) -> None:
        super().__init__(f"the task queue did not take {task_name!r}")
        self.task_name = task_name


class TaskQueue(Protocol):
    """Carry a task's name and ids to the workers."""

    async def send(self, task_name: str, *arguments: str) -> None:
        """Queue a task.

        Raises:
            TaskQueueUnavailable: the queue did not take it.
        """
        ...


class CeleryTaskQueue:
    """Carry tasks over Redis, without importing the workers' code."""

    def __init__(self, redis_url: str) -> None:
        self._redis_url = redis_url

    async def send(self, task_name: str, *arguments: str) -> None:
        """Queue a task.

        Raises:
            TaskQueueUnavailable: Redis refused it, or did not answer in time.
        """
        from kombu.exceptions import OperationalError  # noqa: PLC0415 - Celery takes half a second

        try:
            async with asyncio.timeout(SEND_DEADLINE_S):
                await asyncio.to_thread(self._send, task_name, arguments)
        except (OperationalError, OSError, TimeoutError) as error:
            raise TaskQueueUnavailable(task_name) from error

    def _send(self, task_name: str, arguments: tuple[str, ...]) -> None:
        queue = QUEUES_BY_TASK.get(task_name, MAINTENANCE_QUEUE)
        self._app.send_task(task_name, args=arguments, queue=queue, retry=False, expires=EXPIRY_S)

    @cached_property
    def _app(self) -> "Celery":
        from celery import Celery  # noqa: PLC0415 - half a second that only a sender pays

        app = Celery("regent", broker=broker_url(self._redis_url), set_as_current=False)
        app.conf.update(
            task_serializer="json",
            task_ignore_result=True,
            broker_transport_options={
                "socket_timeout": SEND_DEADLINE_S,
                "socket_connect_timeout": SEND_DEADLINE_S,
            },
        )
        return app


def broker_url(redis_url: str) -> str:
    """Return a Redis address in the form that Celery's transport reads.

    Both take `redis://`; a socket is `unix://PATH?db=N` to the client and
    `redis+socket://PATH?virtual_host=N` to the transport.
    """
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    query = parts.query.replace("db=", "virtual_host=")
    return f"redis+socket://{parts.path}" + (f"?{query}" if query else "")
