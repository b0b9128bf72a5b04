//! CRC-32C, the checksum of every row.
//!
//! Forty lines need no library. It finds every single flipped bit and all but one in four
//! billion of other damages; it is no protection against somebody who wants to deceive.

/// The polynomial of Castagnoli, bits reversed.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// What a byte becomes after it and so many zeros: eight bytes are taken at once, because a
/// store is read and checked as a whole before a hub can start.
const TABLES: [[u32; 256]; 8] = {
    let mut tables = [[0; 256]; 8];
    let mut index = 0;
    while index < 256 {
        let mut value = index as u32;
        let mut bit = 0;
        while bit < 64 {
            value = if value & 1 == 1 { (value >> 1) ^ POLYNOMIAL } else { value >> 1 };
            bit += 1;
            if bit % 8 == 0 {
                tables[bit / 8 - 1][index] = value;
            }
        }
        index += 1;
    }
    tables
};

/// A checksum that is being made.
pub(super) struct Crc(u32);

impl Crc {
    /// Begins a checksum.
    pub fn new() -> Self {
        Self(!0)
    }

    /// Takes in more.
    pub fn add(&mut self, bytes: &[u8]) {
        let (chunks, rest) = bytes.as_chunks::<8>();
        for chunk in chunks {
            let mixed = u64::from_le_bytes(*chunk) ^ u64::from(self.0);
            let parts = mixed.to_le_bytes().into_iter().zip(TABLES.iter().rev());
            self.0 = parts.fold(0, |value, (byte, table)| value ^ table[usize::from(byte)]);
        }
        for byte in rest {
            self.0 = (self.0 >> 8) ^ TABLES[0][usize::from(self.0 as u8 ^ byte)];
        }
    }

    /// Returns the checksum of everything so far.
    pub fn value(&self) -> u32 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_is_the_known_one() {
        for split in 0..=9 {
            let mut crc = Crc::new();
            crc.add(&b"123456789"[..split]);
            crc.add(&b"123456789"[split..]);
            assert_eq!(crc.value(), 0xe306_9283, "split at {split}");
        }
    }
}
