//! A page of a list, limited in rows and bytes.

use rusqlite::{Row, Rows};

/// The maximum size of a page, in bytes of the parts that clients and runs chose, since several lists may be read
/// concurrently.
pub(super) const MAX_BYTES: u64 = 4 << 20;

/// A page of a list.
#[derive(Debug)]
pub(crate) struct Page<T> {
    /// At least one, if there is one.
    pub(crate) rows: Vec<T>,
    /// Whether there may be more.
    pub(crate) is_full: bool,
}

impl<T> Page<T> {
    /// Reads rows up to `limit`, which the statement must contain too, and up to the maximum sum of their columns
    /// `size`.
    pub(super) fn read(
        rows: Rows<'_>,
        limit: u32,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Self> {
        Self::read_bytes(rows, limit, MAX_BYTES, read)
    }

    /// Like [`read`](Self::read), with a given maximum.
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
