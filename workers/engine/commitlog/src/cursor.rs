//! Big-endian fields over byte slices.

/// Fills a slice from its start.
pub(crate) struct Writer<'a> {
    rest: &'a mut [u8],
}

impl<'a> Writer<'a> {
    pub(crate) fn new(rest: &'a mut [u8]) -> Self {
        Self { rest }
    }

    /// A writer of the next `N` bytes. Their room is checked here once, not for each field.
    #[inline]
    pub(crate) fn part<const N: usize>(&mut self) -> Writer<'a> {
        let (part, rest) = std::mem::take(&mut self.rest).split_at_mut(N);
        self.rest = rest;
        Writer::new(part)
    }

    #[inline]
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        let (head, rest) = std::mem::take(&mut self.rest).split_at_mut(bytes.len());
        head.copy_from_slice(bytes);
        self.rest = rest;
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
