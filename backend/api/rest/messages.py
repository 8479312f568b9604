"""Send a message over REST."""

from typing import Any

from pydantic import RootModel
from pydantic.config import ConfigDict

from backend.api.context import Context
from backend.api.permissions import reaches
from backend.api.rest.errors import SILENT, refused_with
from backend.api.rest.operations import Asker, schema_of
from backend.api.rest.routers import guarded_router
from backend.domain.access import Reach
from backend.domain.orders.message import SendMessage
from backend.operations.engine.order_schema import read_order
from backend.services.message.sent_messages import send_message
from backend.views.messages import SentMessageOut

router = guarded_router("messages")


def _refer(schema: dict[str, Any]) -> None:
    schema.clear()
    schema["$ref"] = schema_of(SendMessage)


class SendIn(RootModel[dict[str, Any]]):
    """Ask for a message to be sent."""

    model_config = ConfigDict(json_schema_extra=_refer)


@router.post("/messages", status_code=201, responses={**SILENT, **refused_with(409)})
@reaches(Reach.KEPT)
async def send(given: SendIn, context: Context, author: Asker) -> SentMessageOut:
    """Send one message at once. The audit keeps only the size and the digest of the body.

    The code `send_unanswered` means that the message may be stored. Nothing sends it again.
    """
    sent = await send_message(
        read_order(SendMessage, given.root),
        author,
        database=context.database,
        brokers=context.brokers,
        clock=context.clock,
    )
    return SentMessageOut.of(sent)
