//! Counts of instructions and allocations of one call.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use cost::valgrind;

use crate::case::Case;

/// The two numbers of calls whose difference is measured, so that what is done once does not count. Tests make fewer, since they are
/// slow; with a hundred instead of a thousand, the start of the process would change the count by 2%.
const FEW: u32 = if cfg!(debug_assertions) { 10 } else { 500 };
const MANY: u32 = if cfg!(debug_assertions) { 1010 } else { 2500 };

/// The cost of one call.
pub(crate) struct Counts {
    pub(crate) instructions: f64,
    pub(crate) allocations: f64,
}

/// Returns the cost of one call.
pub(crate) fn counts(case: Case) -> io::Result<Counts> {
    Ok(Counts { instructions: instructions(case)?, allocations: allocations(case)? })
}

/// Returns the instructions of one call.
pub(crate) fn instructions(case: Case) -> io::Result<f64> {
    difference(|times| cachegrind(case, times, "/dev/null"))
}

/// Returns the allocations of one call.
pub(crate) fn allocations(case: Case) -> io::Result<f64> {
    difference(|times| valgrind::allocations(&["run", &case.name(), &times.to_string()]))
}

/// Returns the instructions of one call by file of the source, with the counts of cachegrind's output.
pub(crate) fn by_file<K: Ord>(case: Case, count: impl Fn(&str) -> Vec<(K, f64)>) -> io::Result<Vec<(K, f64)>> {
    let counted = |times| {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("out");
        cachegrind(case, times, &path.display().to_string())?;
        let counted: BTreeMap<K, f64> = count(&fs::read_to_string(path)?).into_iter().collect();
        io::Result::Ok(counted)
    };
    let few = counted(FEW)?;
    let many = counted(MANY)?.into_iter();
    Ok(many
        .map(|(key, count)| {
            let before = few.get(&key).copied().unwrap_or_default();
            (key, per_call(before, count))
        })
        .collect())
}

/// Returns the count of one call: what more calls add.
fn difference(count: impl Fn(u32) -> io::Result<f64>) -> io::Result<f64> {
    Ok(per_call(count(FEW)?, count(MANY)?))
}

fn per_call(few: f64, many: f64) -> f64 {
    (many - few) / f64::from(MANY - FEW)
}

fn cachegrind(case: Case, times: u32, out: &str) -> io::Result<f64> {
    valgrind::instructions(&["run", &case.name(), &times.to_string()], out)
}
