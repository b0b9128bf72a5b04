//! Binary frames as they come: bytes that should inflate to a replay page.

use dialect::native::compress;

/// Inflates and decodes; what inflates must inflate to the same once it is deflated again.
pub fn run(input: &[u8]) {
    let _ = compress::decode_page(input);
    if let Ok(inflated) = compress::inflate(input)
        && inflated.len() < 1 << 16
    {
        let again = compress::inflate(&compress::deflate(&inflated));
        assert_eq!(again.as_deref(), Ok(&inflated[..]));
    }
}
