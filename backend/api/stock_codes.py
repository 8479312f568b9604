"""Tell which response code stock RocketMQ has for a refusal, for scripts made for its tools.

The remoting door holds the table of all refusals; these few are told by the other doors too.
"""

from collections.abc import Mapping
from typing import Final

from backend.domain import errors

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
