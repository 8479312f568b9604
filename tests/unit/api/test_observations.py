from backend.domain.topic import QueueSettings, TopicPlacement
from backend.services.consumer_group.observations import view_queues, view_rates
from backend.services.samples import ObservedQueue, ObservedSample, ObservedTopic

PLACEMENT = TopicPlacement(1, "broker-a", QueueSettings(2, 3, 6))


def sample(broker_id=0, *, group="broker-a", at_ms=1_000, topics=()):
    return ObservedSample(
        cluster_name="main",
        broker_name=group,
        broker_id=broker_id,
        observed_at_ms=at_ms,
        reported_at_ms=at_ms,
        booted_at_ms=0,
        messages_in=0,
        bytes_in=0,
        messages_out=0,
        bytes_out=0,
        commit_log_min_position=0,
        commit_log_max_position=0,
        flushed_position=0,
        store_bytes=0,
        disk_total_bytes=0,
        disk_free_bytes=0,
        resident_bytes=0,
        cpu_seconds=0.0,
        topics=tuple(topics),
    )


def topic(*queues, rate=None):
    return ObservedTopic("orders", 0, 0, queues, rate, rate)


def test_a_queue_that_no_sample_has_shown_has_no_offsets():
    queues = view_queues("orders", [PLACEMENT], [])

    assert [(queue.queue_id, queue.min_offset, queue.observed_at_ms) for queue in queues] == [
        (0, None, None),
        (1, None, None),
        (2, None, None),
    ]


def test_the_masters_sight_of_a_queue_is_preferred():
    master = sample(0, topics=[topic(ObservedQueue(0, 1, 9))])
    replica = sample(1, topics=[topic(ObservedQueue(0, 1, 5))])

    first = view_queues("orders", [PLACEMENT], [replica, master])[0]

    assert (first.min_offset, first.max_offset, first.observed_at_ms) == (1, 9, 1_000)


def test_rates_of_groups_are_added_up():
    samples = [
        sample(topics=[topic(rate=2.0)]),
        sample(group="broker-b", topics=[topic(rate=3.0)]),
        sample(1, topics=[topic(rate=100.0)]),
    ]

    assert view_rates("orders", samples, now_ms=2_000).messages_in_per_second == 5.0


def test_one_unknown_rate_makes_the_sum_unknown():
    samples = [sample(topics=[topic(rate=2.0)]), sample(group="broker-b", topics=[topic()])]

    assert view_rates("orders", samples, now_ms=2_000).messages_in_per_second is None


def test_a_rate_of_long_ago_says_nothing_about_now():
    samples = [sample(topics=[topic(rate=2.0)])]

    assert view_rates("orders", samples, now_ms=100_000).bytes_in_per_second is None


def test_a_former_master_is_no_master_beside_its_successor():
    # Case B2: each keeps its own last sample, and that of the former is still that of a master.
    former = sample(at_ms=1_000, topics=[topic(ObservedQueue(0, 1, 5), rate=2.0)])
    master = sample(at_ms=2_000, topics=[topic(ObservedQueue(0, 1, 9), rate=3.0)])

    assert view_rates("orders", [former, master], now_ms=3_000).messages_in_per_second == 3.0
    assert view_queues("orders", [PLACEMENT], [former, master])[0].max_offset == 9
