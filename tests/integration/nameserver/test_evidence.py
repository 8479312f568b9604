"""On the wire: who lacks what a master reported as confirmed gets no master's role (D27)."""

from tests.integration.nameserver.broker_peer import BrokerPeer, make_f3, state

REFUSED = 2012
NOBODY = 2004


async def test_a_member_that_comes_back_with_less_is_refused_until_another_one_is_there(
    start_server, connect, eventually
):
    # Case A1.
    server = await start_server()
    f3 = [BrokerPeer(await connect(server), broker_id) for broker_id in (1, 2, 3)]
    await make_f3(f3)
    await f3[0].lease(maxOffset="100", confirmOffset="100")
    for broker in f3:
        await broker.close()
    back = BrokerPeer(await connect(server), 2)
    await back.lease(maxOffset="50", confirmOffset="0")

    asked = await back.elect()
    designated = await back.elect(2, designateElect="true")
    nobodys = await back.elect(-1)

    assert [one.code for one in (asked, designated, nobodys)] == [REFUSED, REFUSED, NOBODY]
    assert "2 lacks messages that were confirmed to the group" in asked.remark
    whole = BrokerPeer(await connect(server), 3)
    await whole.lease(maxOffset="100", confirmOffset="0")

    async def is_led_by_the_whole_one():
        return (await state(whole))[0] == 3 and (await state(whole))[1] > 1

    await whole.elect()
    await eventually(is_led_by_the_whole_one)


async def test_a_master_of_stock_reports_nothing_that_has_an_effect(
    start_server, connect, eventually
):
    """It asks for no lease, and by its default its members may lack what it calls confirmed."""
    server = await start_server()
    f3 = [BrokerPeer(await connect(server), broker_id) for broker_id in (1, 2, 3)]
    await make_f3(f3)
    await f3[0].beat(maxOffset="100", confirmOffset="100")
    await f3[1].beat(maxOffset="60", confirmOffset="60")

    await f3[0].close()

    async def is_replaced():
        return (await state(f3[1]))[:2] == (2, 2)

    await eventually(is_replaced)
