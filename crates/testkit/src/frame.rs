//! WebSocket frames built by hand: those that no library would send.

/// A frame's opcode.
pub mod opcode {
    /// The next piece of a message.
    pub const CONTINUATION: u8 = 0;
    /// A text message, or its first piece.
    pub const TEXT: u8 = 1;
    /// A binary message, or its first piece.
    pub const BINARY: u8 = 2;
    /// A close.
    pub const CLOSE: u8 = 8;
    /// A ping.
    pub const PING: u8 = 9;
}

/// The mask of all frames here: any will do.
const MASK: [u8; 4] = [0x12, 0x34, 0x56, 0x78];

/// Builds a whole masked frame.
pub fn frame(opcode: u8, is_final: bool, payload: &[u8]) -> Vec<u8> {
    let mut bytes = head(opcode, is_final, payload.len() as u64);
    bytes.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    bytes
}

/// Builds a text message in one frame.
pub fn text(payload: &str) -> Vec<u8> {
    frame(opcode::TEXT, true, payload.as_bytes())
}

/// Builds the head of a masked frame that announces so many bytes, which need not follow.
pub fn head(opcode: u8, is_final: bool, length: u64) -> Vec<u8> {
    let mut bytes = vec![opcode | if is_final { 0x80 } else { 0 }];
    match length {
        0..126 => bytes.push(0x80 | length as u8),
        126..65536 => {
            bytes.push(0x80 | 126);
            bytes.extend((length as u16).to_be_bytes());
        }
        _ => {
            bytes.push(0x80 | 127);
            bytes.extend(length.to_be_bytes());
        }
    }
    bytes.extend(MASK);
    bytes
}

/// Builds a short text frame without a mask, as only servers may send.
pub fn unmasked(payload: &str) -> Vec<u8> {
    assert!(payload.len() < 126);
    [&[0x80 | opcode::TEXT, payload.len() as u8], payload.as_bytes()].concat()
}
