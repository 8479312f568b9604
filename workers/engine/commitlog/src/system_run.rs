//! Which run of the system has the files of a store in its page cache (FORMAT.md 1).
//!
//! A process that is killed leaves all it wrote in the page cache. The cache is gone once the system went
//! down, and also once the file system was unmounted: one whose device failed is mounted anew in the same boot.

use std::fs;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// `STATX_MNT_ID_UNIQUE` (Linux 6.8): no later mount of this boot gets the same number.
const MNT_ID_UNIQUE: StatxFlags = StatxFlags::from_bits_retain(0x4000);

/// Names this boot of the system, and behind it the mount that each directory is in.
///
/// `None` where the system does not tell its boot id. A kernel before 5.8 tells no mounts.
#[must_use]
pub fn system_run(dirs: &[&Path]) -> Option<String> {
    let boot_id = fs::read_to_string(BOOT_ID).ok()?;
    let boot_id = boot_id.trim();
    let mounts = dirs.iter().filter_map(|dir| mount_of(dir));
    let run = mounts.fold(boot_id.to_owned(), |run, mount| format!("{run} {mount}"));
    (!boot_id.is_empty()).then_some(run)
}

/// Whether a run that was noted earlier is this one. Former versions noted the boot alone.
#[must_use]
pub fn is_same_run(noted: &str, now: &str) -> bool {
    noted == now || Some(noted) == now.split(' ').next()
}

fn mount_of(dir: &Path) -> Option<u64> {
    [MNT_ID_UNIQUE, StatxFlags::MNT_ID]
        .into_iter()
        .find_map(|wanted| {
            let told = statx(CWD, dir, AtFlags::empty(), wanted).ok()?;
            (told.stx_mask & wanted.bits() != 0).then_some(told.stx_mnt_id)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_names_the_boot_and_the_mount_of_each_directory() {
        let boot_id = fs::read_to_string(BOOT_ID).expect("the boot id");
        let (root, proc) = (Path::new("/"), Path::new("/proc"));

        let run = system_run(&[root, proc]).expect("a run");

        let fields: Vec<_> = run.split(' ').collect();
        assert_eq!(fields[0], boot_id.trim());
        assert_eq!(fields.len(), 3, "{run}");
        assert_ne!(fields[1], fields[2], "two mounts");
        assert_eq!(system_run(&[root, proc]), Some(run));
    }

    #[test]
    fn another_boot_or_another_mount_is_another_run() {
        for (noted, is_same) in [
            ("boot 7 7", true),
            ("boot 8 7", false),
            ("boot 7 8", false),
            ("boot 7", false),
            ("other 7 7", false),
            ("boot", true),
            ("other", false),
            ("", false),
        ] {
            assert_eq!(is_same_run(noted, "boot 7 7"), is_same, "{noted}");
        }
    }
}
