//! To start from: translate the script, and remove the call of the worker.

use crate::{Parcel, size_of};
use llm_do::prelude::*;

/// Return the size of a parcel.
///
/// Large parcels are heavy.
#[tool]
pub async fn size_of_code(
    ctx: &CallContext,
    parcel: Parcel,
    limit: Option<f64>,
) -> Result<<size_of as llm_do::Tool>::Output> {
    // from typing import Literal, TypedDict
    //
    // class Parcel(TypedDict):
    //     grams: int
    //
    // def size_of_script(parcel: Parcel, limit: float | None = None) -> Literal["Small", "Large"]:
    //     """Return the size of a parcel."""
    //     return "Large" if parcel["grams"] > 9 else "Small"
    Ok(ctx.call(size_of { parcel, limit }).await?)
}
