"""Find the protections of many objects in one statement."""

from backend.api.graphql.context import Info
from backend.domain.protection import Resource
from backend.views.protections import ProtectionOut


async def load_protection(info: Info, resource: Resource) -> ProtectionOut | None:
    """Find the protection of a resource."""
    return ProtectionOut.of(await info.context.loaders.protections.load(resource))
