//! Stock's small text files: how many lines follow, their checksum, the lines
//! (storage-and-ha.md 9.4).

use crate::record::body_crc;

/// In the place of the checksum: the lines are taken unchecked.
const UNCHECKED: u32 = 0;

/// The content of a file that holds these lines.
pub(crate) fn encode(lines: &[String]) -> String {
    let content: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
    let crc = body_crc(content.as_bytes());
    format!("{}\n{crc}\n{content}", lines.len())
}

/// The lines of a file, or what is wrong with it. As in stock, those without a checksum count.
pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<&str>, &'static str> {
    decode_if(bytes, |crc| crc == UNCHECKED)
}

/// The lines of a file that only this store writes, so with their checksum; or what is wrong with
/// it.
pub(crate) fn decode_own(bytes: &[u8]) -> Result<Vec<&str>, &'static str> {
    decode_if(bytes, |_| false)
}

fn decode_if(
    bytes: &[u8],
    is_unchecked: impl FnOnce(u32) -> bool,
) -> Result<Vec<&str>, &'static str> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not text")?;
    let mut parts = text.splitn(3, '\n');
    let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok());
    let (Some(count), Some(crc)) = (number(), number()) else {
        return Err("it does not begin with a number of lines and a checksum");
    };
    let content = parts.next().unwrap_or_default();
    if crc != body_crc(content.as_bytes()) && !is_unchecked(crc) {
        return Err("its checksum differs");
    }
    let lines: Vec<&str> = content.lines().collect();
    if u32::try_from(lines.len()) != Ok(count) {
        return Err("it holds another number of lines than it says");
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_written_as_in_the_example_of_stocks_documentation() {
        let lines = ["7-7000".to_owned(), "8-8000".to_owned()];

        let text = encode(&lines);

        assert_eq!(text, "2\n773307083\n7-7000\n8-8000\n");
        assert_eq!(decode(text.as_bytes()), Ok(vec!["7-7000", "8-8000"]));
    }

    #[test]
    fn what_stock_wrote_without_a_checksum_counts_and_our_own_does_not() {
        let text = b"2\n0\n374869150\n1555";

        assert_eq!(decode(text), Ok(vec!["374869150", "1555"]));
        assert_eq!(decode_own(text), Err("its checksum differs"));
        assert_eq!(
            decode_own(b"2\n773307083\n7-7000\n8-8000\n"),
            Ok(vec!["7-7000", "8-8000"])
        );
    }

    #[test]
    fn any_change_of_a_byte_is_noticed() {
        let text = encode(&["1-0".to_owned(), "12-345".to_owned()]);
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            assert!(decode(&bytes).is_err(), "byte {at}");
            assert!(decode(&text.as_bytes()[..at]).is_err(), "{at} bytes");
        }
    }
}
