//! Every limit of the wire, in one place.

/// The largest frame, length field included (`com.rocketmq.remoting.frameMaxLength`).
pub const FRAME_SIZE_MAX_DEFAULT: usize = 16 * 1024 * 1024;

/// The largest header that we read from any sender. Stock allows a header of a whole frame. 1 MiB
/// holds the largest legal property string (32 767 bytes), even when JSON writes each byte as a
/// six-byte escape.
pub const HEADER_SIZE_MAX: usize = 1024 * 1024;

/// The most entries of `extFields`.
pub const EXT_COUNT_MAX: usize = 4096;

/// The deepest nesting of values we skip over in a JSON header.
pub const JSON_DEPTH_MAX: usize = 64;

/// What a connection keeps of its reassembly buffer between frames.
pub const REASSEMBLY_KEPT_MAX: usize = 256 * 1024;

/// The bytes before the header: the length, and the encoding with the header's length.
pub const FRAME_PREFIX_SIZE: usize = 8;

/// The largest header we write: what its 24-bit length field can say.
pub const HEADER_WRITTEN_MAX: usize = (1 << 24) - 1;
