"""Present in the graph what clusters took in and gave out lately."""

from datetime import datetime
from typing import Self

import strawberry

from backend.api.graphql.context import Info
from backend.api.graphql.scalars import instant
from backend.domain.names import check_cluster_name
from backend.services.samples.rate_history import RatePoint, show_rates


@strawberry.type(description="A rate is null while unknown.")
class Rates:
    """Hold what clusters took in and gave out together at one time, a second."""

    observed_at: datetime
    messages_in_per_second: float | None
    messages_out_per_second: float | None
    bytes_in_per_second: float | None
    bytes_out_per_second: float | None

    @classmethod
    def of(cls, point: RatePoint) -> Self:
        """Present the rates of one time."""
        return cls(
            observed_at=instant(point.at_ms),
            messages_in_per_second=point.rates.messages_in,
            messages_out_per_second=point.rates.messages_out,
            bytes_in_per_second=point.rates.bytes_in,
            bytes_out_per_second=point.rates.bytes_out,
        )


@strawberry.type
class RateQuery:
    """Ask what clusters took in and gave out."""

    @strawberry.field
    async def rates(
        self, info: Info, minutes: int = 60, cluster_name: str | None = None
    ) -> list[Rates]:
        """List what all clusters within reach, or one, took in and gave out in the last minutes.

        That is every few seconds, beyond an hour the mean of every five minutes; at most a day.
        """
        context = info.context
        points = await show_rates(
            minutes,
            cluster_name=None if cluster_name is None else check_cluster_name(cluster_name),
            within=context.within,
            redis=context.api.redis,
            database=context.api.database,
            clock=context.api.clock,
        )
        return [Rates.of(point) for point in points]
