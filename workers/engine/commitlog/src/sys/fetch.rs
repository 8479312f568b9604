//! Having the processor fetch memory, so that to look at it or to write it later waits for it less.

const CACHE_LINE_BYTES: usize = 64;

/// AMD's processors from Zen 4 on, the only ones with both `SSE4a` and AVX-512, have a few lines in
/// time by themselves, and what is short takes longer there with instructions for it. On Zen 3 it
/// takes a twentieth less with them.
pub(crate) const IS_FETCHED_ANYWAY: bool =
    cfg!(all(target_feature = "sse4a", target_feature = "avx512f"));

/// Has the processor fetch the memory of a value that will be looked at soon.
#[inline(always)]
pub(crate) fn prefetch_value<T>(value: &T) {
    let first: *const T = value;
    fetch_bytes(first.cast(), size_of::<T>());
}

/// Fetches so many bytes, beginning with the line that holds the first.
#[inline(always)]
pub(crate) fn fetch_bytes(first: *const u8, length: usize) {
    for line in 0..length.div_ceil(CACHE_LINE_BYTES) {
        fetch_line(first.wrapping_add(line * CACHE_LINE_BYTES));
    }
}

#[inline(always)]
pub(super) fn fetch_line(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect but on caches, whatever lies at the address: behind the end
    // of a map it does nothing.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_ET0 }>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
