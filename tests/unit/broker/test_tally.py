from workers.broker.metrics.tally import DAY, HOUR, MINUTE, Growth, Tally

TICK_MS = MINUTE.interval_ms


def test_what_is_counted_since_the_start_is_shown_before_the_first_sample():
    tally = Tally(2, 1_000)

    tally.add("a", 3, 40)
    tally.add("a", 1, 2)

    assert tally.growth("a", MINUTE, 3_000) == Growth((4, 42), 2_000)
    assert tally.growth("b", MINUTE, 3_000) is None


def test_a_minute_ends_while_the_hour_and_the_day_go_on():
    tally = Tally(1, 0)
    tally.add("a", 7)

    for tick in range(1, 8):
        tally.sample(tick * TICK_MS)
    now_ms = 7 * TICK_MS + 5_000

    assert tally.growth("a", MINUTE, now_ms) == Growth((0,), 55_000)
    assert tally.growth("a", HOUR, now_ms) == Growth((7,), now_ms)
    assert tally.growth("a", DAY, now_ms) == Growth((7,), now_ms)


def test_no_span_is_longer_than_its_name_nor_shorter_by_more_than_an_interval():
    tally = Tally(1, 0)
    tally.add("a", 1)

    for tick in range(3 * DAY.interval_ms * DAY.count // TICK_MS):
        tally.sample(tick * TICK_MS)
        now_ms = tick * TICK_MS + TICK_MS // 2
        elapsed = {span: tally.growth("a", span, now_ms).elapsed_ms for span in (MINUTE, HOUR, DAY)}
        assert all(one <= span.interval_ms * span.count for span, one in elapsed.items())

    assert all(one > span.interval_ms * (span.count - 1) for span, one in elapsed.items())


def test_a_key_that_comes_later_began_with_nothing():
    tally = Tally(1, 0)
    tally.add("a", 1)
    tally.sample(TICK_MS)

    tally.add("b", 5)

    assert tally.growth("b", MINUTE, 2 * TICK_MS).amounts == (5,)


def test_totals_that_are_kept_elsewhere_are_taken_over_as_they_are():
    tally = Tally(1, 0)
    tally.put("a", 10)
    for tick in range(1, 8):
        tally.sample(tick * TICK_MS)

    tally.put("a", 14)

    assert tally.growth("a", MINUTE, 8 * TICK_MS).amounts == (4,)


def test_a_key_that_was_forgotten_starts_again_and_leaves_no_trace_to_its_successor():
    tally = Tally(1, 0)
    tally.add("a", 9)
    tally.add("b", 1)
    tally.sample(TICK_MS)

    tally.forget("a".__eq__)
    tally.add("c", 2)

    assert tally.growth("a", MINUTE, 2 * TICK_MS) is None
    assert tally.growth("b", MINUTE, 2 * TICK_MS).amounts == (1,)
    assert tally.growth("c", MINUTE, 2 * TICK_MS).amounts == (2,)


def test_keys_without_a_count_for_a_day_make_room_and_others_do_not():
    tally = Tally(1, 0, key_count_max=2)
    tally.add("old", 1)
    tally.add("busy", 1)
    tally.add("refused", 1)
    before = tally.growth("refused", DAY, 1)

    for tick in range(1, DAY.count + 1):
        tally.sample(tick * DAY.interval_ms)
    tally.add("busy", 1)
    tally.add("new", 1)

    assert before is None
    assert len(tally) == 2
    assert tally.growth("old", DAY, 0) is None
    assert tally.growth("new", DAY, 0).amounts == (1,)
    assert tally.growth("busy", DAY, 0).amounts == (1,)


def test_a_clock_that_is_set_back_gives_no_negative_time():
    tally = Tally(1, 1_000_000)
    tally.add("a", 4)
    tally.sample(1_000_000 + TICK_MS)

    tally.sample(500_000)

    assert tally.growth("a", MINUTE, 500_001) == Growth((4,), 0)
