"""Ask for the body of a message; the audit says who read it."""

from typing import Annotated

from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain.access import Permission
from backend.domain.message_body import SHOWN_BYTES_DEFAULT, SHOWN_BYTES_MAX, BodyForm
from backend.domain.message_errors import InvalidMessageSearch, MessageNotFound
from backend.domain.operation import Author
from backend.questions.question import Given, question
from backend.services.message_bodies import ReadBody, read_message_body
from backend.services.messages import MessageSource
from backend.views.messages import BodyOut

TopicOfId = Annotated[str | None, Given("Needed for an id of a sender.", length_max=300)]
MaxBytes = Annotated[int, Given(low=1, high=SHOWN_BYTES_MAX)]


@question(
    "/clusters/{cluster_name}/messages/{message_id}/body",
    field="messageBody",
    tag="messages",
    permission=Permission.READ_BODIES,
    refusals=(404, 502),
    absences=(MessageNotFound,),
)
async def show_message_body(
    cluster_name: str,
    message_id: str,
    topic_name: TopicOfId = None,
    form: BodyForm = BodyForm.AUTO,
    max_bytes: MaxBytes = SHOWN_BYTES_DEFAULT,
    *,
    author: Author,
    database: Database,
    brokers: MessageSource,
    clock: Clock,
) -> BodyOut:
    """Show the body of one message as text, JSON or hexadecimal; the audit says who read it."""
    if not 1 <= max_bytes <= SHOWN_BYTES_MAX:
        raise InvalidMessageSearch(f"of a body 1 to {SHOWN_BYTES_MAX} bytes are shown")
    shown = await read_message_body(
        ReadBody(cluster_name, message_id, topic_name, form, max_bytes),
        author,
        database=database,
        brokers=brokers,
        clock=clock,
    )
    return BodyOut.of(shown)
