"""Which messages wait no more: in the file, in records of the log, and at other members (D14)."""

from backend.remoting import java_json
from workers.broker.tables.escaped import EscapedFile, EscapedMessages


def test_changes_are_what_the_next_record_must_have():
    table = EscapedMessages()
    table.lead()
    table.take_over([30, 10])
    table.add(20)

    assert table.take_changes() == {30: True, 10: True, 20: True}
    table.drop(10)
    table.drop(99)
    assert table.take_changes() == {10: False}

    other = EscapedMessages()
    other.apply({30: True, 10: True, 20: True})
    other.apply({10: False})
    assert other.sorted() == table.sorted() == [20, 30]


def test_messages_that_the_log_does_not_hold_any_more_are_forgotten():
    table = EscapedMessages()
    table.lead()
    table.take_over([10, 20, 30])

    table.expire(20)

    assert table.sorted() == [20, 30]
    assert table.take_changes() == {10: False, 20: True, 30: True}


def test_the_file_has_the_positions_again():
    table = EscapedMessages()
    table.take_over([1 << 40, 5])

    stored = java_json.decode(table.as_file(), EscapedFile)

    assert EscapedMessages(stored).sorted() == [5, 1 << 40]
    assert not stored.is_in_log
