//! The packed body of a traditional batch (storage-and-ha.md 2.11).
//!
//! ```text
//! totalSize i32 | magic i32 | bodyCRC i32 | flag i32 | bodyLength i32, body
//! propertiesLength i16, properties
//! ```
//! Producers leave magic and checksum 0; the broker computes the checksum itself.

use crate::cursor::Reader;
use crate::error::AppendError;

/// Smallest element: nothing but its lengths.
const ELEMENT_SIZE_MIN: usize = 4 + 4 + 4 + 4 + 4 + 2;

/// One message of a batch, borrowed from the packed body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Element<'a> {
    pub(crate) flag: i32,
    pub(crate) body: &'a [u8],
    pub(crate) properties: &'a [u8],
}

/// The properties of each message of a packed body, as far as its lengths add up.
pub fn batch_properties(packed: &[u8]) -> impl Iterator<Item = &[u8]> {
    elements(packed).map_while(|element| element.ok().map(|it| it.properties))
}

/// The elements of a packed body.
pub(crate) fn elements(packed: &[u8]) -> impl Iterator<Item = Result<Element<'_>, AppendError>> {
    let mut rest = packed;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let element = take_element(&mut rest);
        if element.is_none() {
            rest = &[];
        }
        Some(element.ok_or(AppendError::MalformedBatch("the lengths do not add up")))
    })
}

fn take_element<'a>(rest: &mut &'a [u8]) -> Option<Element<'a>> {
    let size = usize::try_from(Reader::new(rest).i32()?).ok()?;
    if size < ELEMENT_SIZE_MIN {
        return None;
    }
    let (element, behind) = rest.split_at_checked(size)?;
    *rest = behind;
    let mut input = Reader::new(&element[12..]);
    let flag = input.i32()?;
    let body_size = usize::try_from(input.i32()?).ok()?;
    let body = input.take(body_size)?;
    let properties_size = usize::try_from(input.i16()?).ok()?;
    let properties = input.take(properties_size)?;
    input.is_empty().then_some(Element {
        flag,
        body,
        properties,
    })
}
