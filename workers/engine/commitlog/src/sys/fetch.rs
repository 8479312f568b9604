//! Having the processor fetch memory, so that to look at it later waits for it less.

const CACHE_LINE_BYTES: usize = 64;

/// Fetches so many bytes, beginning with the line that holds the first.
#[inline(always)]
pub(crate) fn fetch_bytes(first: *const u8, length: usize) {
    for line in 0..length.div_ceil(CACHE_LINE_BYTES) {
        fetch_line(first.wrapping_add(line * CACHE_LINE_BYTES));
    }
}

#[inline(always)]
fn fetch_line(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect but on caches, whatever lies at the address: behind the end
    // of a map it does nothing.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
