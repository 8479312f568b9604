"""Convert the expressions of consumers into filters of the engine.

As in stock, there are two kinds of expressions: tags, such as `A || B`, and SQL92 conditions over
the properties of messages, which the engine parses and evaluates.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from regent_engine import PropertyFilter, tag_hash

from backend.remoting.bodies import SubscriptionData
from backend.remoting.headers import PullMessageHeader
from backend.remoting.response_code import ResponseCode
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.errors import Refusal

SQL92: Final = "SQL92"
# Stock keeps a hundred: most brokers have fewer different expressions.
PARSED_COUNT_MAX: Final = 128

_TAG_TYPES: Final = frozenset({None, "", "TAG"})
_ALL: Final = frozenset({"", "*"})


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """The messages of a queue that pass: those with these tags, or those that match, or all."""

    tag_hashes: list[int] | None = None
    properties: PropertyFilter | None = None


PASS_ALL: Final = MessageFilter()


def filter_of_pull(settings: BrokerSettings, header: PullMessageHeader) -> MessageFilter:
    """Return the filter of a pull that carries its own expression.

    Raises:
        Refusal: the expression is invalid, or of a type that this broker does not serve.
    """
    return filter_of_expression(settings, header.expression_type, header.subscription)


def filter_of_expression(
    settings: BrokerSettings, expression_type: str | None, expression: str | None
) -> MessageFilter:
    """Return the filter of an expression.

    Raises:
        Refusal: the expression is invalid, or of a type that this broker does not serve.
    """
    if expression_type in _TAG_TYPES:
        return _tag_filter(expression)
    check_type(settings, expression_type)
    try:
        return MessageFilter(properties=_parsed(expression or ""))
    except ValueError as error:
        raise _parse_failure(error) from error


def filter_of_subscription(
    settings: BrokerSettings, subscription: SubscriptionData
) -> MessageFilter:
    """Return the filter of a group's subscription from its heartbeats.

    Raises:
        Refusal: the expression is invalid, or of a type that this broker does not serve.
    """
    if subscription.expression_type in _TAG_TYPES:
        if subscription.expression in _ALL:
            return PASS_ALL
        if subscription.tag_hashes:
            return MessageFilter(tag_hashes=subscription.tag_hashes)
        return _tag_filter(subscription.expression)
    check_type(settings, subscription.expression_type)
    try:
        return MessageFilter(properties=_parsed(subscription.expression))
    except ValueError as error:
        raise Refusal(
            ResponseCode.FILTER_DATA_NOT_EXIST,
            f"the consumer's filter does not exist, because its expression is wrong: {error}",
        ) from error


def check_subscription(settings: BrokerSettings, subscription: SubscriptionData) -> None:
    """Check a subscription before a consumer starts, so that its user sees an error.

    Raises:
        Refusal: the expression is invalid, or of a type that this broker does not serve.
    """
    if subscription.expression_type in _TAG_TYPES:
        return
    check_type(settings, subscription.expression_type)
    try:
        _parsed(subscription.expression)
    except ValueError as error:
        raise _parse_failure(error) from error


def check_type(settings: BrokerSettings, expression_type: str | None) -> None:
    """Check that the broker filters by such expressions.

    Raises:
        Refusal: the settings do not allow it, or the broker does not support it.
    """
    if expression_type in _TAG_TYPES:
        return
    if expression_type != SQL92 or not settings.property_filter_enabled:
        raise Refusal(
            ResponseCode.SYSTEM_ERROR,
            f"The broker does not support consumer to filter message by {expression_type}",
        )


def _parse_failure(error: ValueError) -> Refusal:
    return Refusal(
        ResponseCode.SUBSCRIPTION_PARSE_FAILED,
        f"parse the consumer's subscription failed: {error}",
    )


@lru_cache(maxsize=PARSED_COUNT_MAX)
def _parsed(expression: str) -> PropertyFilter:
    return PropertyFilter(expression)


def _tag_filter(expression: str | None) -> MessageFilter:
    """Convert `A || B` into tag hashes."""
    if not expression or expression.strip() in _ALL:
        return PASS_ALL
    tags = [tag.strip() for tag in expression.split("||")]
    hashes = [tag_hash(tag) for tag in tags if tag]
    if not hashes:
        raise Refusal(
            ResponseCode.SUBSCRIPTION_PARSE_FAILED, "parse the consumer's subscription failed"
        )
    return MessageFilter(tag_hashes=hashes)
