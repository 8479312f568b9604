//! Threads of the engine that no caller waits for: a panic of one ends the process.
//!
//! No other thread does the work of such a thread, and its locks may guard half of a change. A
//! process that went on would refuse work without a visible reason, or never answer.

use std::io::{self, Write};
use std::process::abort;
use std::thread::{Scope, ScopedJoinHandle, panicking};

use regent_sync::thread::{Builder, JoinHandle};

/// Starts a thread that aborts the process if it panics, after a message that names it.
///
/// # Errors
/// The system gives no thread.
pub fn spawn_native(
    name: &'static str,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let guarded = move || guard(name, work);
    Builder::new().name(name.into()).spawn(guarded)
}

/// As [`spawn_native`], for a thread that ends before its scope does.
///
/// # Errors
/// The system gives no thread.
pub(crate) fn spawn_native_in<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &'static str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    let guarded = move || guard(name, work);
    std::thread::Builder::new()
        .name(name.into())
        .spawn_scoped(scope, guarded)
}

fn guard<T>(name: &'static str, work: impl FnOnce() -> T) -> T {
    let _abort = AbortOnPanic(name);
    work()
}

struct AbortOnPanic(&'static str);

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if panicking() {
            // The panic hook has said what failed, and where.
            let text = format!(
                "crash: the native thread {} panicked; the process ends",
                self.0
            );
            let _ = writeln!(io::stderr(), "{text}");
            abort();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;
    use std::thread;

    use super::*;

    const IN_CHILD: &str = "REGENT_TEST_PANICS";

    /// Runs one test of this program in a separate process.
    fn run_alone(test: &str) -> (Option<i32>, String) {
        let program = std::env::current_exe().unwrap();
        let arguments = ["--exact", test, "--nocapture", "--test-threads=1"];
        let child = Command::new(program)
            .args(arguments)
            .env(IN_CHILD, "1")
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&child.stderr).into_owned();
        (child.status.signal(), told)
    }

    fn assert_aborts(test: &str, thread: &str, panics: impl FnOnce()) {
        if std::env::var_os(IN_CHILD).is_some() {
            panics();
            return;
        }

        let (signal, told) = run_alone(test);

        assert_eq!(signal, Some(libc::SIGABRT), "{told}");
        let message = format!("crash: the native thread {thread} panicked");
        assert!(
            told.contains(&message) && told.contains("on purpose"),
            "{told}"
        );
    }

    #[test]
    fn a_panic_of_a_native_thread_ends_the_process_with_a_message() {
        let test = "native::tests::a_panic_of_a_native_thread_ends_the_process_with_a_message";
        assert_aborts(test, "lone", || {
            let thread = spawn_native("lone", || panic!("on purpose")).unwrap();
            let _ = thread.join();
        });
    }

    #[test]
    fn so_does_one_of_a_thread_in_a_scope() {
        let test = "native::tests::so_does_one_of_a_thread_in_a_scope";
        assert_aborts(test, "helper", || {
            thread::scope(|scope| {
                let work = || panic!("on purpose");
                let _ = spawn_native_in(scope, "helper", work).unwrap().join();
            });
        });
    }

    #[test]
    fn a_thread_that_ends_well_ends_nothing_else() {
        spawn_native("lone", || ()).unwrap().join().unwrap();
        let number = thread::scope(|scope| {
            let helper = spawn_native_in(scope, "helper", || 7).unwrap();
            helper.join().unwrap()
        });

        assert_eq!(number, 7);
    }
}
