//! Integers, checksums and hashes of FORMAT.md.

/// A big-endian signed integer of 1, 2, 4 or 8 bytes; nothing where the bytes end before it does.
pub fn integer(bytes: &[u8], at: usize, size: usize) -> Option<i64> {
    let field = bytes.get(at..at.checked_add(size)?)?;
    let value = field
        .iter()
        .fold(0_i64, |sum, byte| (sum << 8) | i64::from(*byte));
    let unused = 64 - 8 * u32::try_from(size).expect("a few bytes");
    Some((value << unused) >> unused)
}

/// CRC-32 as in Ethernet and zip.
pub fn crc32(bytes: &[u8]) -> u32 {
    let table = table();
    let step = |crc: u32, byte: &u8| (crc >> 8) ^ table[((crc ^ u32::from(*byte)) & 0xFF) as usize];
    !bytes.iter().fold(!0, step)
}

/// The same with its top bit cleared.
pub fn crc31(bytes: &[u8]) -> i64 {
    i64::from(crc32(bytes) & 0x7FFF_FFFF)
}

fn table() -> &'static [u32; 256] {
    static TABLE: std::sync::OnceLock<[u32; 256]> = std::sync::OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = [0_u32; 256];
        for (entry, index) in table.iter_mut().zip(0_u32..) {
            let shift = |crc: u32, _| {
                if crc & 1 == 1 {
                    (crc >> 1) ^ 0xEDB8_8320
                } else {
                    crc >> 1
                }
            };
            *entry = (0..8).fold(index, shift);
        }
        table
    })
}

/// Java's `String.hashCode`.
pub fn java_hash(text: &[u8]) -> i32 {
    let text = String::from_utf8_lossy(text);
    let step = |hash: i32, unit: u16| hash.wrapping_mul(31).wrapping_add(i32::from(unit));
    text.encode_utf16().fold(0, step)
}

/// Whether a part of `bytes[from..to]` that lies in one sector of 512 bytes is zeros throughout.
pub fn has_empty_sector(bytes: &[u8], from: usize, to: usize) -> bool {
    let mut at = from;
    while at < to {
        let end = to.min(at - at % 512 + 512);
        if bytes[at..end].iter().all(|byte| *byte == 0) {
            return true;
        }
        at = end;
    }
    false
}
