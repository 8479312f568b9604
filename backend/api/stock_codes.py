"""Tell what scripts need of a refusal besides its code, such as stock RocketMQ's response code.

The remoting door holds the table of all refusals; these few are told by the other doors too.
"""

from collections.abc import Mapping
from typing import Any, Final

from backend.domain import errors, event_errors
from backend.domain.operation_errors import PlanBlocked, PreconditionMoved

STOCK_CODES: Final[Mapping[type[errors.DomainError], int]] = {
    errors.MasterEpochMoved: 2000,
    errors.MasterNotAvailable: 2004,
    errors.BrokerGroupNotControlled: 2008,
    errors.CleanRefused: 2009,
    errors.BrokerNotRegistered: 2010,
    errors.AdoptionRefused: 2005,
    errors.ElectionFailed: 2012,
    errors.MasterLeaseLive: 2012,
    errors.UnknownReplica: 2003,
}


def find_stock_code(error: errors.DomainError) -> int | None:
    """Find the response code of a refusal that has one."""
    return STOCK_CODES.get(type(error))


def error_facts(error: errors.DomainError) -> dict[str, Any]:
    """Return the facts of a refusal, by names in snake case."""
    if isinstance(error, PreconditionMoved):
        return {"precondition": error.name, "expected": error.expected, "found": error.found}
    if isinstance(error, errors.VersionMoved):
        return {"expected": error.expected, "found": error.found}
    if isinstance(error, event_errors.EventsExpired):
        return {"oldest_number": error.oldest_number, "newest_number": error.newest_number}
    if isinstance(error, event_errors.SubscriberTooSlow):
        return {"position": error.position}
    code = error.stock_code if isinstance(error, PlanBlocked) else find_stock_code(error)
    facts: dict[str, Any] = {} if code is None else {"stock_code": code}
    if isinstance(error, PlanBlocked):
        facts["check"] = error.check
    return facts
