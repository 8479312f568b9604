"""A stock broker's config is shown without its secrets, and no request sets one (D26, G13)."""

from types import SimpleNamespace

import pytest

from backend.brokers.asking import Brokers
from backend.brokers.requests.properties import GetProperties
from backend.domain.broker_property import PropertyEffect, PropertyRefused, check_value

OURS = 7_000
"""Codes above are requests of ours, which stock brokers do not know."""
CONFIG = """\
brokerName=stock
fileReservedTime=72
initAuthenticationUser={"username":"admin","password":"hunter2"}
innerClientAuthenticationCredentials={"accessKey":"admin","secretKey":"hunter2"}
tlsServerKeyPassword=hunter2
ourKeys={"secretKey":"hunter2"}
emptySecret=
"""


class Stock:
    """Answer as a stock broker does: it knows 25 and 26 only."""

    async def request(self, _address, code, **_named):
        if int(code) > OURS:
            return SimpleNamespace(code=3, remark="not supported", body=b"")
        return SimpleNamespace(code=0, remark=None, body=CONFIG.encode())


@pytest.fixture
async def reported():
    found = await Brokers(Stock()).ask("stock:10911", GetProperties())
    return {one.name: one for one in found}


async def test_no_secret_of_a_stock_broker_is_shown(reported):
    assert "hunter2" not in str(reported)
    assert reported["initAuthenticationUser"].value == "(not shown)"
    assert (reported["fileReservedTime"].value, reported["emptySecret"].value) == ("72", "")


async def test_no_request_sets_a_secret_of_a_stock_broker(reported):
    for name in ("initAuthenticationUser", "tlsServerKeyPassword", "ourKeys", "emptySecret"):
        assert reported[name].effect is PropertyEffect.FIXED
        with pytest.raises(PropertyRefused, match="read-only"):
            check_value(reported[name], "another")
    assert reported["fileReservedTime"].effect is PropertyEffect.UNKNOWN
