from workers.broker.tables.queue_readers import QueueReaders

QUEUE = ("g", "T", 0)
FROM = "10.0.0.1:5"


def test_only_another_offset_is_an_advance():
    readers = QueueReaders(0)
    readers.note_commit(*QUEUE, offset=4, address=FROM, now_ms=10)
    first = readers.find(*QUEUE).advanced_at_ms
    readers.note_commit(*QUEUE, offset=4, address=FROM, now_ms=20)
    same = readers.find(*QUEUE)

    assert (first, same.advanced_at_ms, same.committed_at_ms) == (None, None, 20)
    readers.note_commit(*QUEUE, offset=5, address=FROM, now_ms=30)
    assert readers.find(*QUEUE).advanced_at_ms == 30


def test_a_pull_shows_from_where_it_came():
    readers = QueueReaders(0)

    readers.note_pull(*QUEUE, address=FROM, now_ms=7)

    found = readers.find(*QUEUE)
    assert (found.pulled_at_ms, found.committed_at_ms, found.address) == (7, None, FROM)
    assert readers.find("g", "T", 1) is None


def test_a_deleted_topic_is_forgotten():
    readers = QueueReaders(0)
    readers.note_pull(*QUEUE, address=FROM, now_ms=7)

    readers.remove_topic("T")

    assert readers.find(*QUEUE) is None


def test_bad_names_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr("workers.broker.tables.queue_readers.READER_COUNT_MAX", 2)
    readers = QueueReaders(0)

    for number in range(3):
        readers.note_pull("g", f"T{number}", 0, address=FROM, now_ms=7)

    assert readers.find("g", "T1", 0) is not None
    assert readers.find("g", "T2", 0) is None
