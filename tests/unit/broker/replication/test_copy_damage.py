"""A damaged record of a log is noted until its master has sent it again (ADR 17)."""

from workers.broker.replication.copy_damage import (
    FILE_NAME,
    find_damage,
    forget_damage,
    note_damage,
)


def test_a_damage_is_found_at_the_next_start_until_it_is_mended_o34(tmp_path):
    assert find_damage(tmp_path, from_position=0) is None

    note_damage(tmp_path, 8_192)

    found = find_damage(tmp_path, from_position=8_192)
    assert found.position == 8_192
    assert "8192" in found.reason
    forget_damage(tmp_path)
    forget_damage(tmp_path)
    assert find_damage(tmp_path, from_position=0) is None


def test_the_damage_of_a_record_that_has_expired_is_none(tmp_path):
    note_damage(tmp_path, 8_192)

    assert find_damage(tmp_path, from_position=8_193) is None


def test_a_file_that_was_cut_short_names_no_damage(tmp_path):
    (tmp_path / FILE_NAME).write_text("")

    assert find_damage(tmp_path, from_position=0) is None
