//! The ROCKETMQ header (remoting.md 1.3).
//!
//! ```text
//! offset  size  field
//! 0       2     code, signed
//! 2       1     language
//! 3       2     version, signed
//! 5       4     opaque
//! 9       4     flag
//! 13      4     size r of the remark
//! 17      r     remark
//! 17 + r  4     size e of the ext entries
//! 21 + r  e     entries: key size (2), key, value size (4), value
//! ```

use crate::error::HeaderError;
use crate::header::{ExtSink, Header};
use crate::language::Language;
use crate::limits::EXT_COUNT_MAX;
use crate::text::Text;

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], HeaderError> {
        let chunk = self.bytes[self.at..]
            .first_chunk::<N>()
            .ok_or(HeaderError::Truncated)?;
        self.at += N;
        Ok(*chunk)
    }

    fn size(&mut self, size: i32) -> Result<usize, HeaderError> {
        usize::try_from(size).map_err(|_| HeaderError::LengthNegative(self.at))
    }

    /// Take `size` bytes of text; an empty text is none (remoting.md 1.3).
    fn text(&mut self, size: i32) -> Result<Option<Text<'a>>, HeaderError> {
        let size = self.size(size)?;
        let rest = &self.bytes[self.at..];
        let text = rest.get(..size).ok_or(HeaderError::Truncated)?;
        self.at += size;
        let text = std::str::from_utf8(text).map_err(|_| HeaderError::NotUtf8)?;
        Ok((!text.is_empty()).then(|| Text::plain(text)))
    }
}

pub(crate) fn decode_header<'a>(
    bytes: &'a [u8],
    ext: &mut impl ExtSink<'a>,
) -> Result<Header<'a>, HeaderError> {
    let mut cursor = Cursor { bytes, at: 0 };
    let code = i32::from(i16::from_be_bytes(cursor.take()?));
    let [language] = cursor.take()?;
    let version = i32::from(i16::from_be_bytes(cursor.take()?));
    let opaque = i32::from_be_bytes(cursor.take()?);
    let flag = i32::from_be_bytes(cursor.take()?);
    let remark_size = i32::from_be_bytes(cursor.take()?);
    let remark = cursor.text(remark_size)?;
    let ext_size = i32::from_be_bytes(cursor.take()?);
    let ext_size = cursor.size(ext_size)?;
    let ext_end = cursor
        .at
        .checked_add(ext_size)
        .ok_or(HeaderError::Truncated)?;
    if ext_end > bytes.len() {
        return Err(HeaderError::Truncated);
    }
    if ext_end < bytes.len() {
        return Err(HeaderError::Trailing(ext_end));
    }
    let mut count = 0;
    while cursor.at < ext_end {
        count += 1;
        if count > EXT_COUNT_MAX {
            return Err(HeaderError::ExtTooMany);
        }
        let key_size = i32::from(i16::from_be_bytes(cursor.take()?));
        let key = cursor.text(key_size)?;
        let value_size = i32::from_be_bytes(cursor.take()?);
        let value = cursor.text(value_size)?;
        if let Some(key) = key {
            ext.put(key, value);
        }
    }
    let language = Language::from_number(language);
    Ok(Header {
        code,
        language,
        version,
        opaque,
        flag,
        remark,
    })
}
