//! Machines that go down before all of an asynchronous log was flushed: it ends where the first of it is
//! gone, whatever follows, and nothing of before that is taken for such a loss.

use std::fs;
use std::path::Path;

use regent_commitlog::inspect::{FindingKind, Survey};
use regent_commitlog::{FlushMode, LogDamage, RecordDamage, Store};
use tempfile::TempDir;

use crate::support::*;

const FLUSHED: usize = 20;
const COUNT: u64 = 60;

/// A store of which the first records were flushed, and where each record begins.
fn half_flushed(flush_mode: FlushMode) -> (TempDir, Vec<u64>) {
    let dir = tempdir();
    let mut there = config(dir.path());
    there.flush_mode = flush_mode;
    let store = Store::open(there, NOW_MS).unwrap();
    let mut positions = fill(&store, FLUSHED as u64);
    store.flush_tick(NOW_MS).unwrap();
    for number in FLUSHED as u64..COUNT {
        let (topic, queue_id, body) = numbered(number);
        positions.push(append(&store, topic, queue_id, &body).log_position);
    }
    positions.remove(FLUSHED);
    positions.push(store.max_position());
    (dir, positions)
}

/// Leaves nothing of a record but zeros.
fn lose(dir: &Path, positions: &[u64], number: usize) {
    let (from, to) = (positions[number], positions[number + 1]);
    let base = from - from % SEGMENT_SIZE;
    let size = usize::try_from(to - from).unwrap();
    overwrite(&segment_path(dir, base), from - base, &vec![0; size]);
}

#[test]
fn a_log_ends_where_the_first_of_what_was_not_flushed_is_gone() {
    let (dir, positions) = half_flushed(FlushMode::Async);
    for number in [FLUSHED, FLUSHED + 1, 40] {
        let image = crash(dir.path());
        go_down(image.path());
        lose(image.path(), &positions, number);
        lose(image.path(), &positions, number + 5);

        let store = open(image.path());

        let lost = LogDamage {
            position: positions[number],
            kind: RecordDamage::Magic,
            next_valid_position: Some(positions[number + 1]),
        };
        assert_eq!(store.recovery().damage, None);
        assert_eq!(store.recovery().lost_unflushed, Some(lost));
        assert_eq!(store.max_position(), positions[number]);
        assert_holds(&store, number as u64);
        let end = store.max_position();
        drop(store);
        let reopened = open(image.path());
        assert_eq!(reopened.recovery().lost_unflushed, None);
        assert_eq!(
            (reopened.recovery().damage, reopened.max_position()),
            (None, end)
        );
    }
}

#[test]
fn what_waited_for_the_disk_before_a_kill_is_no_loss_of_a_later_asynchronous_run() {
    let (dir, positions) = half_flushed(FlushMode::Sync);
    drop(open(dir.path()));
    go_down(dir.path());
    lose(dir.path(), &positions, 40);

    let store = open(dir.path());

    let damage = store.recovery().damage.expect("it was on the disk");
    assert_eq!(damage.position, positions[40]);
    assert_eq!(store.recovery().lost_unflushed, None);
    assert_eq!(store.max_position(), positions[positions.len() - 1]);
}

#[test]
fn where_messages_waited_for_the_disk_only_a_torn_record_was_not_flushed() {
    const NUMBER: usize = 40;
    let (dir, positions) = half_flushed(FlushMode::Sync);
    go_down(dir.path());
    let (torn, wrong) = (crash(dir.path()), crash(dir.path()));
    lose(torn.path(), &positions, NUMBER);
    let base = positions[NUMBER] - positions[NUMBER] % SEGMENT_SIZE;
    let in_header = positions[NUMBER] + 2 - base;
    overwrite(&segment_path(wrong.path(), base), in_header, &[0xFF]);

    let [torn, wrong] = [&torn, &wrong].map(|image| *open(image.path()).recovery());

    let expected = LogDamage {
        position: positions[NUMBER],
        kind: RecordDamage::Magic,
        next_valid_position: Some(positions[NUMBER + 1]),
    };
    assert_eq!((torn.damage, torn.lost_unflushed), (None, Some(expected)));
    assert_eq!(torn.end_position, positions[NUMBER]);
    let damage = wrong.damage.expect("all of it was written");
    assert_eq!(damage.position, positions[NUMBER]);
    assert_eq!(wrong.lost_unflushed, None);
}

#[test]
fn a_store_whose_file_system_was_mounted_again_is_judged_as_after_a_power_cut() {
    for flush_mode in [FlushMode::Async, FlushMode::Sync] {
        let (dir, positions) = half_flushed(flush_mode);
        lose(dir.path(), &positions, 40);
        let path = dir.path().join("abort");
        let mark = fs::read_to_string(&path).unwrap();
        let run = mark.lines().nth(1).unwrap();
        let [boot, number, of_log] = run.split(' ').collect::<Vec<_>>()[..] else {
            panic!("a boot and two file systems: {run}");
        };
        let runs = [
            (number, "1", false),
            ("1", of_log, false),
            (number, of_log, true),
        ];
        for (number, of_log, was_killed) in runs {
            let image = crash(dir.path());
            let other = format!("{boot} {number} {of_log}");
            fs::write(image.path().join("abort"), mark.replace(run, &other)).unwrap();

            let found = *open(image.path()).recovery();

            assert_eq!(found.damage.is_some(), was_killed, "{other}");
            assert_eq!(found.lost_unflushed.is_some(), !was_killed, "{other}");
        }
    }
}

#[test]
fn a_log_of_which_nothing_is_gone_keeps_what_was_not_flushed() {
    let (dir, positions) = half_flushed(FlushMode::Async);
    go_down(dir.path());

    let store = open(dir.path());

    assert_eq!(store.recovery().lost_unflushed, None);
    assert_eq!(store.max_position(), positions[positions.len() - 1]);
    assert_holds(&store, COUNT);
}

#[test]
fn what_was_flushed_is_damaged_and_so_is_what_lies_behind() {
    let (dir, positions) = half_flushed(FlushMode::Async);
    go_down(dir.path());
    lose(dir.path(), &positions, FLUSHED - 1);
    lose(dir.path(), &positions, 40);

    let store = open(dir.path());

    let damage = store.recovery().damage.unwrap();
    assert_eq!(damage.position, positions[FLUSHED - 1]);
    assert_eq!(store.recovery().lost_unflushed, None);
    assert_eq!(store.max_position(), positions[positions.len() - 1]);
}

#[test]
fn a_loss_is_damage_unless_all_signs_show_that_it_was_not_flushed() {
    type Spoil = fn(&Path);
    let spoil: [(&str, FlushMode, Spoil); 5] = [
        ("the process alone died", FlushMode::Async, |_| ()),
        ("the process alone died", FlushMode::Sync, |_| ()),
        ("stock was there", FlushMode::Async, |dir| {
            fs::write(dir.join("abort"), "1").unwrap();
        }),
        ("a flush failed", FlushMode::Async, |dir| {
            fs::write(dir.join("abort"), "1\nunflushed\n").unwrap();
        }),
        ("the checkpoint is gone", FlushMode::Async, |dir| {
            go_down(dir);
            fs::remove_file(dir.join("checkpoint")).unwrap();
        }),
    ];
    for (why, flush_mode, spoil) in spoil {
        let (dir, positions) = half_flushed(flush_mode);
        lose(dir.path(), &positions, 40);
        spoil(dir.path());

        let store = open(dir.path());

        let damage = store.recovery().damage.expect(why);
        assert_eq!(damage.position, positions[40], "{why}");
        assert_eq!(store.recovery().lost_unflushed, None, "{why}");
    }
}

#[test]
fn a_tool_sees_the_log_end_where_the_next_start_has_it_end() {
    let (dir, positions) = half_flushed(FlushMode::Async);
    lose(dir.path(), &positions, 40);
    let survey = |dir: &Path| {
        let mut survey = Survey::comparing(&config(dir), false).unwrap();
        while survey.advance(u64::MAX).unwrap() {}
        let kinds: Vec<_> = survey.findings().iter().map(|one| one.kind).collect();
        let tells = [FindingKind::DamagedLog, FindingKind::TornRecord];
        (
            survey.end_position(),
            tells.map(|kind| kinds.contains(&kind)),
        )
    };
    let before = survey(dir.path());
    go_down(dir.path());

    let after = survey(dir.path());

    assert_eq!(before, (positions[positions.len() - 1], [true, false]));
    // Nor is what that start will cut passed over in silence.
    assert_eq!(after, (positions[40], [false, true]));
}

#[test]
fn damage_that_was_found_before_the_system_went_down_stays_damage() {
    let (dir, positions) = half_flushed(FlushMode::Async);
    lose(dir.path(), &positions, 40);
    let found = open(dir.path()).recovery().damage;
    assert_eq!(found.map(|damage| damage.position), Some(positions[40]));
    go_down(dir.path());

    for _ in 0..2 {
        let store = open(dir.path());

        assert_eq!(store.recovery().damage, found);
        assert_eq!(store.recovery().lost_unflushed, None);
        assert_eq!(store.max_position(), positions[positions.len() - 1]);
        store.close().unwrap();
    }
}

#[test]
fn a_tool_sees_what_lies_behind_damage_as_the_next_start_does() {
    let (dir, positions) = half_flushed(FlushMode::Async);
    lose(dir.path(), &positions, FLUSHED - 1);
    lose(dir.path(), &positions, 40);
    go_down(dir.path());
    let mut survey = Survey::comparing(&config(dir.path()), false).unwrap();
    while survey.advance(u64::MAX).unwrap() {}

    assert_eq!(survey.end_position(), open(dir.path()).max_position());
}
