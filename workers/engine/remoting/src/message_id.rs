//! The offset message id: where a message is stored, as hex (remoting.md 4.4).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const HEX: &[u8; 16] = b"0123456789ABCDEF";
const SIZE_IPV4: usize = 32;
const SIZE_IPV6: usize = 56;

/// Append `bytes` as upper-case hex.
pub fn append_hex(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        out.push(char::from(HEX[usize::from(byte >> 4)]));
        out.push(char::from(HEX[usize::from(byte & 15)]));
    }
}

/// Write the end of an id, its log position.
#[must_use]
pub fn position_hex(log_position: u64) -> [u8; 16] {
    let mut digits = [0; 16];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(log_position.to_be_bytes()) {
        pair[0] = HEX[usize::from(byte >> 4)];
        pair[1] = HEX[usize::from(byte & 15)];
    }
    digits
}

/// Append the id of the record at `log_position` of the store behind `host`.
pub fn append_message_id(out: &mut String, host: SocketAddr, log_position: u64) {
    match host.ip() {
        IpAddr::V4(ip) => append_hex(out, &ip.octets()),
        IpAddr::V6(ip) => append_hex(out, &ip.octets()),
    }
    append_hex(out, &u32::from(host.port()).to_be_bytes());
    append_hex(out, &log_position.to_be_bytes());
}

/// Read an id; `None` when it is none.
#[must_use]
pub fn parse_message_id(id: &str) -> Option<(SocketAddr, u64)> {
    if !matches!(id.len(), SIZE_IPV4 | SIZE_IPV6) {
        return None;
    }
    let bytes: Option<Vec<u8>> = id.as_bytes().chunks_exact(2).map(hex_byte).collect();
    let bytes = bytes?;
    let (ip, rest): (IpAddr, _) = if id.len() == SIZE_IPV4 {
        let (ip, rest) = bytes.split_first_chunk::<4>()?;
        (Ipv4Addr::from(*ip).into(), rest)
    } else {
        let (ip, rest) = bytes.split_first_chunk::<16>()?;
        (Ipv6Addr::from(*ip).into(), rest)
    };
    let (port, rest) = rest.split_first_chunk::<4>()?;
    let port = u16::try_from(u32::from_be_bytes(*port)).ok()?;
    Some((
        SocketAddr::new(ip, port),
        u64::from_be_bytes(*rest.first_chunk()?),
    ))
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    digits.iter().try_fold(0, |byte, &digit| {
        let value = u8::try_from(char::from(digit).to_digit(16)?).ok()?;
        Some(byte << 4 | value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_reference_is_written_and_read() {
        let host: SocketAddr = "10.0.0.1:10911".parse().unwrap();
        let mut id = String::new();

        append_message_id(&mut id, host, 123_456);

        assert_eq!(id, "0A00000100002A9F000000000001E240");
        assert_eq!(parse_message_id(&id), Some((host, 123_456)));
    }

    #[test]
    fn an_ipv6_id_has_fifty_six_characters() {
        let host: SocketAddr = "[::1]:10911".parse().unwrap();
        let mut id = String::new();

        append_message_id(&mut id, host, u64::MAX);

        assert_eq!(id.len(), 56);
        assert_eq!(parse_message_id(&id), Some((host, u64::MAX)));
    }

    #[test]
    fn what_is_no_id_is_none() {
        let too_high_a_port = "0A000001000FFFFF000000000001E240";
        for id in ["", "0A", &"G".repeat(32), &"é".repeat(16), too_high_a_port] {
            assert_eq!(parse_message_id(id), None, "{id}");
        }
    }
}
