"""Consumers by POP of a broker group, and the messages that they get."""


async def consumer(group, number):
    """Give the client of a broker, as a member of consumer group `g`."""
    client = group.client(number)
    await client.heartbeat("g", "orders")
    return client


async def send_many(group, number, count, start=0):
    """Send numbered messages to a broker."""
    for at in range(start, start + count):
        assert (await group.send(number, b"%03d" % at)).code == 0
