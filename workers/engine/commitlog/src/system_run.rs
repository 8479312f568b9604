//! Which run of the system has the files of a store in its page cache (FORMAT.md 1).
//!
//! A process that is killed leaves all it wrote in the page cache. The cache is gone once the
//! system went down, and also once the file system was unmounted: a file system whose device failed
//! is mounted again in the same boot.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{major, minor};

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
const FILE_SYSTEMS: &str = "/sys/fs";
/// Where the system does not name the file system: one in memory, on the network, or of layers.
const UNNAMED: &str = "-";

/// Names this boot of the system, and behind it the mounted file system that each directory is in.
///
/// `None` where the system does not show its boot id.
#[must_use]
pub fn system_run(dirs: &[&Path]) -> Option<String> {
    let boot_id = fs::read_to_string(BOOT_ID).ok()?;
    let boot_id = boot_id.trim();
    let run = dirs.iter().fold(boot_id.to_owned(), |run, dir| {
        let number = file_system_of(dir).map_or(UNNAMED.to_owned(), |number| number.to_string());
        format!("{run} {number}")
    });
    (!boot_id.is_empty()).then_some(run)
}

/// Whether a run that was noted earlier is this one. Former versions noted the boot alone.
#[must_use]
pub fn is_same_run(noted: &str, now: &str) -> bool {
    noted == now || Some(noted) == now.split(' ').next()
}

/// The number of a file system while it is mounted, the same in every container: the kernel makes a directory
/// for it at the first mount, and removes the directory at the last unmount.
fn file_system_of(dir: &Path) -> Option<u64> {
    let device = fs::metadata(dir).ok()?.dev();
    let link = format!("/sys/dev/block/{}:{}", major(device), minor(device));
    let target = fs::read_link(link).ok()?;
    let name = target.file_name()?;
    let mut kinds = fs::read_dir(FILE_SYSTEMS).ok()?.flatten();
    kinds.find_map(|kind| Some(fs::metadata(kind.path().join(name)).ok()?.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_names_the_boot_and_the_file_system_of_each_directory() {
        let boot_id = fs::read_to_string(BOOT_ID).expect("the boot id");
        let (root, proc) = (Path::new("/"), Path::new("/proc"));

        let run = system_run(&[root, proc]).expect("a run");

        let fields: Vec<_> = run.split(' ').collect();
        assert_eq!(fields[0], boot_id.trim());
        assert_eq!(fields[2..], [UNNAMED], "{run}");
        assert_eq!(system_run(&[root, proc]), Some(run));
    }

    #[test]
    fn another_boot_or_another_file_system_is_another_run() {
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
