//! CRC-32C (Castagnoli), as records of the state log carry it.

const POLYNOMIAL: u32 = 0x82F6_3B78;

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < table.len() {
        #[allow(clippy::cast_possible_truncation, reason = "it is below 256")]
        let mut value = at as u32;
        let mut bit = 0;
        while bit < 8 {
            value = (value >> 1) ^ (POLYNOMIAL * (value & 1));
            bit += 1;
        }
        table[at] = value;
        at += 1;
    }
    table
};

/// The checksum of some pieces, one behind the other.
pub(crate) fn crc32c(pieces: &[&[u8]]) -> u32 {
    let bytes = pieces.iter().flat_map(|piece| piece.iter());
    !bytes.fold(u32::MAX, |crc, byte| {
        (crc >> 8) ^ TABLE[usize::from(crc.to_le_bytes()[0] ^ byte)]
    })
}

#[cfg(test)]
mod tests {
    use super::crc32c;

    #[test]
    fn it_is_that_of_rfc_3720() {
        assert_eq!(crc32c(&[b"123456789"]), 0xE306_9283);
        assert_eq!(crc32c(&[&[0; 16], &[0; 16]]), 0x8A91_36AA);
        assert_eq!(crc32c(&[&[0xFF; 32]]), 0x62A8_AB43);
    }
}
