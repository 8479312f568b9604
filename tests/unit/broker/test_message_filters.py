import pytest
from regent_engine import PropertyFilter, encode_properties, tag_hash

from backend.remoting.bodies import SubscriptionData
from workers.broker.commit_log.message_filters import check_subscription, filter_of_subscription
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.errors import Refusal

SETTINGS = BrokerSettings()


def filter_of(expression, **fields):
    subscription = SubscriptionData(topic="T", expression=expression, **fields)
    return filter_of_subscription(SETTINGS, subscription)


def test_tags_become_hashes_and_a_star_lets_all_pass():
    assert filter_of("A || TagA|| ").tag_hashes == [tag_hash("A"), 2598919]
    assert filter_of("A", tag_hashes=[7]).tag_hashes == [7]
    assert filter_of("*").tag_hashes is filter_of("").tag_hashes is None
    with pytest.raises(Refusal):
        filter_of(" || ")


def test_an_expression_becomes_a_filter_by_properties_that_is_parsed_once():
    # Case C9.
    passing = filter_of("price > 10", expression_type="SQL92")

    assert passing.tag_hashes is None
    assert passing.properties is filter_of("price > 10", expression_type="SQL92").properties
    prices = [encode_properties({"price": price}) for price in ("10", "11")]
    assert [passing.properties.matches(one) for one in prices] == [False, True]


@pytest.mark.parametrize("expression", ["", " ", "price >", "price = 'x", "(" * 5_000])
def test_a_wrong_expression_is_refused_wherever_it_comes_from(expression):
    # Case C9.
    subscription = SubscriptionData(topic="T", expression=expression, expression_type="SQL92")
    with pytest.raises(ValueError):
        PropertyFilter(expression)

    for judge, code in ((check_subscription, 23), (filter_of_subscription, 27)):
        with pytest.raises(Refusal) as refused:
            judge(SETTINGS, subscription)
        assert refused.value.code == code
