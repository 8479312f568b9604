//! Big-endian fields over byte slices.

/// Fills a slice from its start.
pub(crate) struct Writer<'a> {
    rest: &'a mut [u8],
}

impl<'a> Writer<'a> {
    pub(crate) fn new(rest: &'a mut [u8]) -> Self {
        Self { rest }
    }

    /// The next `size` bytes, to be written by the caller.
    #[inline]
    pub(crate) fn next(&mut self, size: usize) -> &'a mut [u8] {
        let (head, rest) = std::mem::take(&mut self.rest).split_at_mut(size);
        self.rest = rest;
        head
    }

    #[inline]
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        self.next(bytes.len()).copy_from_slice(bytes);
    }

    /// As [`Self::put`], for bytes that are mostly few: a call costs more than to copy them.
    #[inline(always)]
    pub(crate) fn put_few(&mut self, bytes: &[u8]) {
        copy_few(self.next(bytes.len()), bytes);
    }

    #[inline]
    pub(crate) fn put_u32(&mut self, value: u32) {
        self.put(&value.to_be_bytes());
    }

    #[inline]
    pub(crate) fn put_i32(&mut self, value: i32) {
        self.put(&value.to_be_bytes());
    }

    #[inline]
    pub(crate) fn put_u64(&mut self, value: u64) {
        self.put(&value.to_be_bytes());
    }

    #[inline]
    pub(crate) fn put_i64(&mut self, value: i64) {
        self.put(&value.to_be_bytes());
    }

    pub(crate) fn is_full(&self) -> bool {
        self.rest.is_empty()
    }
}

/// Copies bytes that are mostly few.
#[inline(always)]
pub(crate) fn copy_few(to: &mut [u8], from: &[u8]) {
    match from.len() {
        8..=16 => copy_ends::<8>(to, from),
        17..=32 => copy_ends::<16>(to, from),
        33..=64 => copy_ends::<32>(to, from),
        _ => to.copy_from_slice(from),
    }
}

/// Compares bytes that are mostly few.
#[inline(always)]
pub(crate) fn are_few_equal(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    match left.len() {
        8..=16 => are_ends_equal::<8>(left, right),
        17..=32 => are_ends_equal::<16>(left, right),
        _ => left == right,
    }
}

/// Compares the first and the last `N` of at most twice as many bytes.
#[inline(always)]
fn are_ends_equal<const N: usize>(left: &[u8], right: &[u8]) -> bool {
    let firsts = left.first_chunk::<N>() == right.first_chunk();
    firsts & (left.last_chunk::<N>() == right.last_chunk())
}

/// Copies the first and the last `N` of at most twice as many bytes.
#[inline(always)]
fn copy_ends<const N: usize>(to: &mut [u8], from: &[u8]) {
    if let (Some(to), Some(from)) = (to.first_chunk_mut::<N>(), from.first_chunk()) {
        *to = *from;
    }
    if let (Some(to), Some(from)) = (to.last_chunk_mut::<N>(), from.last_chunk()) {
        *to = *from;
    }
}

/// Takes fields from the start of a slice; `None` when it is too short.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    #[inline]
    pub(crate) fn take(&mut self, size: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.rest.split_at_checked(size)?;
        self.rest = rest;
        Some(head)
    }

    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*head)
    }

    #[inline]
    pub(crate) fn i8(&mut self) -> Option<i8> {
        self.array().map(i8::from_be_bytes)
    }

    #[inline]
    pub(crate) fn i16(&mut self) -> Option<i16> {
        self.array().map(i16::from_be_bytes)
    }

    #[inline]
    pub(crate) fn i32(&mut self) -> Option<i32> {
        self.array().map(i32::from_be_bytes)
    }

    #[inline]
    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    #[inline]
    pub(crate) fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_be_bytes)
    }

    #[inline]
    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn few_bytes_and_many_differ_in_each_of_them() {
        for size in 0..70 {
            let bytes: Vec<u8> = (0..size).collect();
            assert!(are_few_equal(&bytes, &bytes.clone()));
            assert!(!are_few_equal(&bytes, &[&bytes[..], b"."].concat()));
            for at in 0..bytes.len() {
                let mut other = bytes.clone();
                other[at] ^= 0x20;
                assert!(!are_few_equal(&bytes, &other), "byte {at} of {size}");
            }
        }
    }

    #[test]
    fn few_bytes_and_many_are_copied_alike() {
        let bytes: Vec<u8> = (0..=200).collect();
        for size in 0..bytes.len() {
            let mut copied = [0xFF; 202];
            let mut out = Writer::new(&mut copied);

            out.put_few(&bytes[..size]);
            out.put(b"|");

            assert_eq!(copied[..size], bytes[..size]);
            assert_eq!(
                copied[size], b'|',
                "{size} bytes moved on by another number"
            );
            assert_eq!(copied[size + 1..], [0xFF; 202][size + 1..]);
        }
    }
}
