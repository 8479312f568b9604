"""Other broker groups that answer as a test wants."""

from workers.broker.routing.topic_routes import RouteUnknown

RETRY = "%RETRY%g"


class Answer:
    def __init__(self, body, code=0):
        self.body, self.code = body, code


class Others:
    """Broker groups with the routes that name them; an event lets one answer."""

    def __init__(self, **answers):
        self.answers, self.asked, self.codes = answers, [], set()
        self.routes, self.gates = {RETRY: set(answers)}, {}

    async def ask(self, broker_name, code, ext, *, place):
        assert (ext["consumerGroup"], "g" in place) == ("g", True)
        self.asked.append(broker_name)
        self.codes.add(code)
        if broker_name in self.gates:
            await self.gates[broker_name].wait()
        answer = self.answers[broker_name]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def in_route(self, topic):
        if topic not in self.routes:
            raise RouteUnknown(topic)
        return frozenset(self.routes[topic])
