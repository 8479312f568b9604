"""SQL92 filters: what a consumer may ask for, and what its pulls are given (case C9)."""

import asyncio

import pytest

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import bodies, send_fields, subscription
from tests.integration.broker.test_sending import batch_entry
from tests.waiting import eventually

SUSPEND = 2
SUBSCRIPTION = 4
BY_PRICE = {"subscription": "price > 10", "expressionType": "SQL92"}
BY_HEARTBEAT = {"sysFlag": 0, "subscription": None, "expressionType": "SQL92", "subVersion": 1}


async def send_prices(client, *prices):
    for price in prices:
        properties = {} if price is None else {"price": str(price)}
        await client.send("T", str(price).encode(), properties=properties)


async def check(client, expression, expression_type="SQL92"):
    data = subscription("T", expression=expression, expression_type=expression_type)
    body = {"clientId": "c", "group": "g", "subscriptionData": data}
    answer = await client.call(RequestCode.CHECK_CLIENT_CONFIG, body=java_json.encode(body))
    return answer.code, answer.remark or ""


async def holding(broker, count):
    await eventually(lambda: len(broker.broker.polling) == count)


@pytest.mark.parametrize("code", [RequestCode.PULL_MESSAGE, RequestCode.LITE_PULL_MESSAGE])
async def test_a_pull_with_an_expression_is_given_what_matches(client, code):
    # Case C9.
    await send_prices(client, 5, 15, None, "much", 20)

    some = await client.pull("T", code=code, **BY_PRICE)
    again = await client.pull("T", code=code, **BY_PRICE)
    none = await client.pull("T", code=code, **BY_PRICE | {"subscription": "price > 99"})

    assert bodies(some) == bodies(again) == [b"15", b"20"]
    assert (some.ext["nextBeginOffset"], again.ext) == ("5", some.ext)
    assert (none.code, none.ext["nextBeginOffset"], none.body) == (20, "5", b"")


async def test_a_push_consumer_pulls_by_the_expression_of_its_heartbeat(client):
    # Case C9.
    await client.heartbeat(
        "g", "T", sub={"expression": "price BETWEEN 10 AND 20", "expression_type": "SQL92"}
    )
    await send_prices(client, 5, 15, 25)

    pulled = [await client.pull("T", **BY_HEARTBEAT) for _ in range(2)]

    assert [bodies(one) for one in pulled] == [[b"15"], [b"15"]]


async def test_a_newer_expression_takes_the_place_of_an_older_one(client):
    sql = {"expression_type": "SQL92"}
    await client.heartbeat("g", "T", sub=sql | {"expression": "price = 5"})
    await send_prices(client, 5, 15)
    first = await client.pull("T", **BY_HEARTBEAT)

    await client.heartbeat("g", "T", sub=sql | {"expression": "price = 15", "version": 2})
    second = await client.pull("T", **BY_HEARTBEAT)
    await client.heartbeat("g", "T", sub={"expression": "*", "version": 3})
    third = await client.pull("T", **BY_HEARTBEAT)

    assert [bodies(one) for one in (first, second, third)] == [[b"5"], [b"15"], [b"5", b"15"]]


async def test_a_held_pull_sleeps_through_messages_that_do_not_match(client, broker):
    # Case C9: only the properties decide whether it may be woken.
    await send_prices(client, 1)
    pull = client.start_pull("T", queueOffset=1, **BY_PRICE | {"sysFlag": SUSPEND | SUBSCRIPTION})
    await holding(broker, 1)

    await send_prices(client, 2, None)
    await asyncio.sleep(0)
    await holding(broker, 1)
    await send_prices(client, 30)

    pulled = await pull
    assert bodies(pulled) == [b"30"]
    assert pulled.ext["nextBeginOffset"] == "4"


async def test_messages_sent_as_a_batch_are_filtered_one_by_one(client):
    await send_prices(client, 1)
    entries = batch_entry(b"no", {"price": "1"}) + batch_entry(b"yes", {"price": "11"})
    await client.call(RequestCode.SEND_BATCH_MESSAGE, send_fields("T") | {"m": "true"}, entries)

    assert bodies(await client.pull("T", **BY_PRICE)) == [b"yes"]


async def test_a_mistake_in_an_expression_is_an_error_at_every_door(client):
    # Case C9: 46 is what a client asks before it starts; its user sees the remark.
    expression = "price >> 10"
    await client.heartbeat("g", "T", sub={"expression": expression, "expression_type": "SQL92"})
    await send_prices(client, 15)

    asked = await check(client, expression)
    carried = await client.pull("T", **BY_PRICE | {"subscription": expression})
    registered = await client.pull("T", **BY_HEARTBEAT)

    reason = (
        "column 8: expected a property, a number, a string, TRUE, FALSE, NULL, NOT or (, found >"
    )
    assert asked == (23, f"parse the consumer's subscription failed: {reason}")
    assert (carried.code, registered.code) == (23, 27)
    assert carried.remark.endswith(reason)
    assert registered.remark.endswith(reason)


async def test_a_pull_by_heartbeat_is_refused_until_the_broker_knows_the_filter(client):
    await send_prices(client, 15)

    unknown = await client.pull("T", **BY_HEARTBEAT)
    await client.heartbeat("g", "T", sub={"expression": "price > 1", "expression_type": "SQL92"})
    newer = await client.pull("T", **BY_HEARTBEAT | {"subVersion": 9})

    assert (unknown.code, newer.code) == (24, 25)


@pytest.mark.parametrize(
    ("expression", "expression_type", "code"),
    [
        ("*", "TAG", 0),
        ("A || B", "", 0),
        ("a = 1 AND b IN ('x')", "SQL92", 0),
        ("", "SQL92", 23),
        ("a IN (1)", "SQL92", 23),
        ("a = 1", "SQL99", 1),
        ("x", "CLASS", 1),
    ],
)
async def test_a_subscription_is_judged_before_its_consumer_starts(
    client, expression, expression_type, code
):
    # Case C9.
    told, remark = await check(client, expression, expression_type)

    assert told == code
    if code == 1:
        support = "The broker does not support consumer to filter message by"
        assert remark == f"{support} {expression_type}"


async def test_a_broker_can_be_set_to_filter_by_tags_only(start_broker, connect):
    broker = await start_broker(enablePropertyFilter="false")
    client = await connect(broker)
    await client.heartbeat("g", "T", sub={"expression": "price > 1", "expression_type": "SQL92"})
    await send_prices(client, 15)

    asked = await check(client, "price > 1")
    pulled = [await client.pull("T", **BY_PRICE), await client.pull("T", **BY_HEARTBEAT)]
    by_tag = await client.pull("T")

    refusal = "The broker does not support consumer to filter message by SQL92"
    assert asked == (1, refusal)
    assert [(one.code, one.remark) for one in pulled] == [(1, refusal)] * 2
    assert bodies(by_tag) == [b"15"]


async def test_pulls_are_refused_as_soon_as_the_setting_says_so(client, broker):
    await send_prices(client, 15)
    granted = [await client.pull("T", **BY_PRICE) for _ in range(2)]
    held = client.start_pull("T", queueOffset=1, **BY_PRICE | {"sysFlag": SUSPEND | SUBSCRIPTION})
    await holding(broker, 1)

    changed = await client.call(
        RequestCode.UPDATE_BROKER_CONFIG, body=b"enablePropertyFilter=false\n"
    )
    refused = await client.pull("T", **BY_PRICE)
    await send_prices(client, 25)

    assert [one.code for one in granted] == [0, 0]
    assert (changed.code, refused.code) == (0, 1)
    assert (await held).code == 1


async def test_tools_see_the_type_of_a_subscription(client):
    sub = {"expression": "price > 1", "expression_type": "SQL92"}
    await client.heartbeat("g", "T", sub=sub)

    shown = await client.call(RequestCode.GET_CONSUMER_CONNECTION_LIST, {"consumerGroup": "g"})

    (told,) = java_json.loads(shown.body)["subscriptionTable"].values()
    assert (told["expressionType"], told["subString"]) == ("SQL92", "price > 1")


async def test_retried_messages_are_not_filtered(client):
    # As with stock a consumer subscribes to all that its group failed at.
    await client.heartbeat("g", "T", sub={"expression": "price > 1", "expression_type": "SQL92"})
    sub = {"expression": "*", "version": 2}
    await client.heartbeat("g", "T", "%RETRY%g", sub=sub)
    await client.send("%RETRY%g", b"again")

    pulled = await client.pull("%RETRY%g", sysFlag=0, subscription=None, subVersion=1)

    assert bodies(pulled) == [b"again"]
