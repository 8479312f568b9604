//! The lock that keeps a store to one process.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Takes the exclusive lock on byte 0 of a lock file; `false` when it is held already.
///
/// The lock belongs to the open file, so that a second store in this process is refused as well. It
/// conflicts with the record lock that stock takes on the same byte.
pub(crate) fn lock_first_byte(file: &File) -> io::Result<bool> {
    // SAFETY: all-zero bytes are a valid value of this plain C structure.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    #[allow(clippy::cast_possible_truncation)] // both constants are single digits
    {
        lock.l_type = libc::F_WRLCK as libc::c_short;
        lock.l_whence = libc::SEEK_SET as libc::c_short;
    }
    lock.l_len = 1;
    // SAFETY: the descriptor is open for the life of `file`, and `lock` outlives the call.
    let answer = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) };
    if answer == 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EACCES) => Ok(false),
        _ => Err(error),
    }
}
