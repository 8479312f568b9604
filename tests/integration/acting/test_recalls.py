"""Messages for a time that are recalled while the master of their group is absent (RIP-32)."""

import pytest

from backend.remoting.request_code import RequestCode
from tests.integration.acting.test_acting import await_read
from tests.integration.acting.test_escapes import ESCAPES, add_target, await_drained, let_act
from tests.integration.replication.conftest import read_all

RECALLS = {"recallMessageEnable": "true"}


async def send_at(client, body, delay_ms):
    properties = {"TIMER_DELAY_MS": str(delay_ms), "UNIQ_KEY": f"K{body.decode()}"}
    sent = await client.send("orders", body, properties=properties)
    assert sent.code == 0
    return {"topic": "orders", "recallHandle": sent.ext["recallHandle"]}


@pytest.mark.parametrize("settings", [RECALLS, RECALLS | ESCAPES], ids=["waits", "escapes"])
async def test_a_message_that_is_recalled_at_an_acting_master_is_not_delivered(
    fixed_group, settings
):
    master, replica = await fixed_group.add_pair(**settings)
    target = await add_target(fixed_group)
    handles = [
        await send_at(master, body, delay_ms)
        for body, delay_ms in ((b"early", 15_000), (b"kept", 15_000), (b"late", 25_000))
    ]
    await let_act(fixed_group)

    code = RequestCode.RECALL_MESSAGE
    recalled = [await replica.call(code, handles[one]) for one in (0, 2)]
    wrong = await replica.call(code, handles[0] | {"topic": "others"})
    # What was answered outlives the acting broker.
    fixed_group.kill(1)
    replica = await fixed_group.start(1)
    await fixed_group.await_acting(1)
    if settings.get("enableRemoteEscape"):
        await await_read(target, [b"there", b"kept"])
        await await_drained(replica)
    master = await fixed_group.start(0)
    await fixed_group.await_members({0, 1})
    await send_at(master, b"last", 25_500)

    assert [one.code for one in recalled] == [0, 0]
    assert [one.ext["msgId"] for one in recalled] == ["Kearly", "Klate"]
    assert wrong.code != 0
    wanted = [b"last"] if settings.get("enableRemoteEscape") else [b"kept", b"last"]
    await await_read(master, wanted)
    assert b"early" not in await read_all(target)


async def test_a_recall_of_a_message_that_does_not_wait_is_refused(fixed_group):
    master, replica = await fixed_group.add_pair(**RECALLS)
    handle = await send_at(master, b"m", 60_000)
    await let_act(fixed_group)

    off = await replica.call(RequestCode.RECALL_MESSAGE, handle | {"recallHandle": "djEgVA=="})

    assert (off.code, off.remark.startswith("recall failed")) == (604, True)
    fixed_group.kill(1)
    replica = await fixed_group.start(1, messageIndexEnable="false")
    await fixed_group.await_acting(1)
    refused = await replica.call(RequestCode.RECALL_MESSAGE, handle)
    assert refused.code == 11
    assert "only the master can recall" in refused.remark
