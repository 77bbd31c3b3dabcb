//! A page of a list: of so many rows, and of so many bytes.

use rusqlite::{Row, Rows};

/// The maximum size of a page, in bytes of the parts that clients and runs chose: several lists may be read together.
pub(super) const MAX_BYTES: u64 = 4 << 20;

/// A page of a list.
#[derive(Debug)]
pub(in crate::app::serve) struct Page<T> {
    /// At least one, if there is one.
    pub(in crate::app::serve) rows: Vec<T>,
    /// Whether there may be more.
    pub(in crate::app::serve) is_full: bool,
}

impl<T> Page<T> {
    /// Reads rows up to `limit`, which the statement has too, and up to the maximum of the sums of their columns `size`.
    pub(super) fn read(
        rows: Rows<'_>,
        limit: u32,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Self> {
        Self::read_bytes(rows, limit, MAX_BYTES, read)
    }

    /// The same, with a maximum of its own.
    pub(super) fn read_bytes(
        mut rows: Rows<'_>,
        limit: u32,
        max_bytes: u64,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Self> {
        let (mut page, mut bytes) = (Vec::new(), 0);
        while let Some(row) = rows.next()? {
            bytes += row.get::<_, u64>("size")?;
            if bytes > max_bytes && !page.is_empty() {
                return Ok(Self { rows: page, is_full: true });
            }
            page.push(read(row)?);
        }
        let is_full = page.len() >= usize::try_from(limit).unwrap_or(usize::MAX);
        Ok(Self { rows: page, is_full })
    }
}
