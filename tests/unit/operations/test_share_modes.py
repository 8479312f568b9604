"""What a plan says of the attributes of share queues."""

from types import SimpleNamespace

import pytest

from backend.domain.plan import CheckVerdict
from backend.domain.topic_layout import TopicLayout
from backend.operations.planning import share_modes
from backend.rules.attributes import SHARE_MODE, TIME_SHARE


@pytest.fixture(autouse=True)
def controlled(monkeypatch):
    """Let a controller lead each broker group."""

    async def find_group(*_):
        return object()

    monkeypatch.setattr(share_modes, "find_group", find_group)


async def checks_of(**attributes):
    names = {"mode": SHARE_MODE, "time_share": TIME_SHARE}
    layout = TopicLayout(attributes={names[key]: value for key, value in attributes.items()})
    places = [(SimpleNamespace(broker_group_name="broker-a"), layout)]
    found = await share_modes.check_share_mode("c", places, SimpleNamespace(controller=None))
    return {one.name: one.verdict for one in found}


async def test_time_sharing_has_no_effect_in_primary_mode_and_the_plan_says_so():
    warned = {TIME_SHARE: CheckVerdict.WARN}

    assert await checks_of(time_share="true") == warned
    assert await checks_of(time_share="true", mode="PRIMARY") == warned
    assert await checks_of(time_share="false") == {}
    assert await checks_of() == {}


async def test_time_sharing_in_shared_mode_is_no_matter_for_a_warning():
    passed = {"members can share its queues": CheckVerdict.PASS}

    assert await checks_of(mode="SHARED", time_share="true") == passed
