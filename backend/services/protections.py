"""Find which topics, consumer groups and brokers are protected from deletion."""

from collections.abc import Collection

from backend.db import protections
from backend.db.engine import Database
from backend.domain.protection import Protection, Resource


async def find_protections(
    resources: Collection[Resource], *, database: Database
) -> dict[Resource, Protection | None]:
    """Return the protection of each of many objects in one statement; None means unprotected."""
    async with database.connect() as connection:
        found = await protections.find_of(connection, resources)
    return {one: found.get(one) for one in resources}
