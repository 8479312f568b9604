"""One name a broker, whatever its role (D31, case B2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.broker_name import OWN_ID_MAX, BrokerName
from backend.domain.errors import InvalidName

GROUPS = st.from_regex(r"[a-z0-9_-]{1,20}(\.[a-z0-9-]{1,5})?", fullmatch=True)
NAMES = st.builds(BrokerName, GROUPS, st.integers(0, OWN_ID_MAX))


@given(NAMES)
def test_a_name_reads_back_as_the_broker_that_it_names(name):
    assert BrokerName.parse(str(name)) == name
    assert BrokerName.parse(f"{name.broker_group_name}/{name.own_id}") == name


@given(NAMES, NAMES)
def test_no_two_brokers_have_one_name(one, other):
    assert (str(one) == str(other)) is (one == other)


def test_hyphens_and_digits_of_a_group_belong_to_the_group():
    assert BrokerName.parse("broker-a-1-12") == BrokerName("broker-a-1", 12)
    assert str(BrokerName("broker", 1)) != str(BrokerName("broker-1", 0))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "broker-a",
        "-2",
        "broker-a-02",
        "broker-a--",
        "broker-a-+2",
        "broker-a-\uff12",
        "broker-a-2 ",
        "broker-a-2\n",
        "a/b-2",
        ".-2",
        f"broker-a-{OWN_ID_MAX + 1}",
    ],
)
def test_what_names_no_broker_is_refused(text):
    with pytest.raises(InvalidName):
        BrokerName.parse(text)
