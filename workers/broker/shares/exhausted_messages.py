"""Give up the messages that were delivered as often as they may be, some at a time.

A message that can't be given up now must not hold up others. So it is passed over for some ticks:
its record is damaged, for example, or the broker group that stores it does not answer.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import structlog
from regent_engine import StoreError

from workers.broker.errors import Refusal
from workers.broker.shares.given_up import CopyKey

if TYPE_CHECKING:
    from workers.broker.broker import Broker

DEAD_A_TICK: Final = 256
"""The messages that one tick gives up; the rest waits for the next tick."""

PASSED_TICKS: Final = 20
"""The ticks for which a message is passed over that can't be given up."""

# Other errors of the store concern all messages.
_OF_ONE_MESSAGE: Final = frozenset(
    {"blank_properties", "corrupt", "illegal_message", "inner_batch", "properties_too_large"}
)

log = structlog.get_logger()


class ExhaustedMessages:
    """The messages of one broker that were delivered too often; belongs to the loop's thread."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        self._tick_count = 0
        # The tick in which a message that was passed over is tried again.
        self._passed_over: dict[CopyKey, int] = {}

    async def give_up_some(self) -> None:
        """Give up the next messages, and pass over those that can't be given up now.

        Raises:
            StoreError: the store refuses all messages.
        """
        self._tick_count += 1
        passed = self._passed_over
        self._passed_over = {one: at for one, at in passed.items() if at > self._tick_count}
        hot, now_ms = self._broker.hot, self._broker.elapsed_ms()
        listed = hot.dead_shares(now_ms, DEAD_A_TICK + len(self._passed_over))
        dead = {
            CopyKey(topic, queue_id, group, offset): count
            for topic, queue_id, group, offset, count in listed
        }
        for place in [one for one in dead if one not in self._passed_over][:DEAD_A_TICK]:
            if place not in self._passed_over:
                await self._try(place, dead)

    async def _try(self, place: CopyKey, dead: dict[CopyKey, int]) -> None:
        give_up = self._broker.shares.give_up
        try:
            await give_up(*place.share, place.offset, count=dead[place], is_free=True)
        except Refusal as error:
            # The same broker group stores the next ones: each would wait as long for it.
            self._pass_over([one for one in dead if one.share == place.share], error)
        except StoreError as error:
            if error.code not in _OF_ONE_MESSAGE:
                raise
            self._pass_over([place], error)
        except ValueError as error:
            self._pass_over([place], error)

    def _pass_over(self, places: Iterable[CopyKey], error: Exception) -> None:
        for place in places:
            self._passed_over[place] = self._tick_count + PASSED_TICKS
            log.warning("message_not_given_up", message=place.text, reason=str(error))
