//! The names and sizes of a store's files: impossible segments, and files that no store reads.

use std::fs;
use std::path::{Path, PathBuf};

use super::finding::{FindingKind, Findings};
use crate::directory::FRONT_DIR;
use crate::error::StoreError;
use crate::files::{SegmentFile, is_unwritten, list, list_segments};
use crate::former::SPARE_DIR;

/// Names of what a store derives from its log; a rebuild sets the old ones aside under
/// `<name>.<stamp>`.
const DERIVED: [&str; 2] = ["consumequeue.", "index."];

/// Checks segments, and lists what is left over.
pub(super) fn check(
    root: &Path,
    log_dir: &Path,
    is_in_use: bool,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    check_segments(&list_segments(log_dir)?, is_in_use, findings)?;
    for path in list(log_dir)? {
        match name_of(&path) {
            Some(name) if is_number(name, 20) => {}
            Some(SPARE_DIR) => {
                report_leftover(
                    path,
                    "segments that a former version was to use again",
                    findings,
                );
            }
            // A store in use may just be getting one.
            Some(FRONT_DIR) if is_in_use => {}
            Some(FRONT_DIR) => {
                report_leftover(path, "a segment that was to go before all others", findings);
            }
            _ => report_leftover(path, "no segment has this name", findings),
        }
    }
    let index_dir = root.join("index");
    for path in list(&index_dir)? {
        match name_of(&path) {
            Some(name) if is_number(name, 17) => {}
            Some("damaged") => report_leftover(path, "an index file once found damaged", findings),
            _ => report_leftover(path, "no index file has this name", findings),
        }
    }
    let mut paths = list(root)?;
    paths.sort_unstable();
    for path in paths {
        let name = name_of(&path).unwrap_or_default();
        // A store in use may just be replacing a file.
        let is_unused = !(is_in_use && path.is_file());
        if Path::new(name).extension() == Some("new".as_ref()) && is_unused {
            report_leftover(
                path,
                "the unfinished replacement of a file or directory",
                findings,
            );
        } else if DERIVED.iter().any(|start| name.starts_with(start)) {
            report_leftover(path, "set aside by an earlier rebuild", findings);
        }
    }
    Ok(())
}

/// All segments have one size, and names that are multiples of it. The walk over the log finds gaps
/// between them, except one behind the log's end.
fn check_segments(
    segments: &[SegmentFile],
    is_in_use: bool,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let uses = |size: u64| segments.iter().filter(|other| other.size == size).count();
    let sizes = segments.iter().map(|segment| segment.size);
    let Some(size) = sizes.max_by_key(|size| (uses(*size), *size)) else {
        return Ok(());
    };
    for (at, segment) in segments.iter().enumerate() {
        let place = (segment.path.clone(), 0);
        let is_last = at + 1 == segments.len();
        let before = at.checked_sub(1).map(|at| &segments[at]);
        let end_before = before.map(|before| before.base.saturating_add(before.size));
        if segment.size < size && is_last && is_unwritten(&segment.path)? {
            if !is_in_use {
                let text = format!("{} of {size} bytes, none of them written", segment.size);
                let kind = FindingKind::UnfinishedSegment;
                findings.add_in_file(kind, place, segment.base, text);
            }
        } else if segment.size != size {
            let text = format!("{} bytes, the other segments have {size}", segment.size);
            findings.add_in_file(FindingKind::OddSegment, place, segment.base, text);
        } else if size == 0 || segment.base % size != 0 {
            let text = format!("its name is no multiple of the segment size, {size}");
            findings.add_in_file(FindingKind::OddSegment, place, segment.base, text);
        } else if let Some(end) = end_before.filter(|end| *end != segment.base)
            && !is_in_use
            && is_unwritten(&segment.path)?
        {
            let text = format!("nothing is written in it, and the one before it ends at {end}");
            findings.add_in_file(FindingKind::OddSegment, place, segment.base, text);
        }
    }
    Ok(())
}

fn report_leftover(path: PathBuf, what: &str, findings: &mut Findings) {
    let size = fs::metadata(&path).ok().filter(fs::Metadata::is_file);
    let text = size.map_or_else(
        || what.to_owned(),
        |metadata| format!("{what}, {} bytes", metadata.len()),
    );
    findings.add_in_file(FindingKind::Leftover, (path, 0), 0, text);
}

fn is_number(name: &str, length: usize) -> bool {
    name.len() == length && name.bytes().all(|byte| byte.is_ascii_digit())
}

fn name_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}
