//! The application that the linked items belong to.

use std::collections::BTreeSet;

use crate::plane::definition::ToolDef;

/// The package of the included toolsets, which does not count.
const OWN: &str = env!("CARGO_PKG_NAME");

/// Returns the name and the version of the package whose items are linked; of several, the one with the name of the program.
pub(crate) fn application() -> Option<(&'static str, &'static str)> {
    let packages = inventory::iter::<ToolDef>.into_iter().filter_map(|def| def.location.package_of());
    let packages: BTreeSet<_> = packages.filter(|(name, _)| *name != OWN).collect();
    let program = std::env::current_exe().ok()?;
    let program = program.file_stem()?.to_string_lossy().replace('_', "-");
    let named = packages.iter().find(|(name, _)| name.replace('_', "-") == program);
    named.or(packages.first().filter(|_| packages.len() == 1)).copied()
}
