"""An agent's report of a group's progress."""

from workers.broker.processors.groups import _lag, _queue_progress


class Store:
    """A queue of which all but the newest message has expired."""

    def offsets(self, _topic, _queue_id):
        return 300, 301

    def store_timestamp(self, _topic, _queue_id, _offset):
        return -1


def test_an_agent_reports_where_a_queue_begins_and_counts_no_expired_message_as_lag():
    # Case B4.
    queue, reported = _queue_progress(Store(), "broker-a", ("orders", 2, 10, 10))

    assert (queue.topic, queue.queue_id) == ("orders", 2)
    assert (reported.consumer_offset, reported.min_offset, reported.broker_offset) == (10, 300, 301)
    assert _lag(reported) == 1
