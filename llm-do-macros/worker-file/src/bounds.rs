//! The maximum size of worker files.

/// The maximum size of a file, in bytes.
pub const MAX_SIZE: usize = 1 << 20;

/// Returns the message about a file that exceeds [`MAX_SIZE`].
#[must_use]
pub fn too_large() -> String {
    format!("the file is too large: the limit is {MAX_SIZE} bytes")
}
