//! The only unsafe code of this crate: a separate descriptor for a socket that Python opened.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Another descriptor of what `descriptor` stands for, which lives as long as its owner likes.
///
/// # Errors
/// There is nothing open under that number, or the process has no descriptor left.
pub fn duplicate(descriptor: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: a number and no memory is handed over; one that is not open is refused.
    let duplicated = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 0) };
    if duplicated < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the system has just made this descriptor, and no other code knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(duplicated) })
}
