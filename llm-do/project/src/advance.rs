//! The calls that the files of a project approve in advance, of which its user may be unaware.

use std::fmt;

use llm_do_core::plane::approval::ApprovalMode;
use llm_do_core::plane::definition::DeclaredRule;
use llm_do_core::plane::registry::Origin;

use super::Project;

/// The description of the calls that the mode `approve_all` approves.
pub(super) const EVERY_CALL: &str = "every call";

/// Calls that a file approves in advance.
#[derive(Clone, Debug)]
pub(crate) struct Advance {
    /// The file and line.
    pub(super) place: String,
    /// The description of the calls.
    pub(crate) calls: String,
}

impl fmt::Display for Advance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.calls)
    }
}

impl Project {
    /// Returns the calls that its files approve in advance, each with the file and line.
    ///
    /// The author of the files decides about these calls, and the user is not asked. If the user did not write the
    /// project, show them to the user, or drop them with [`without_approvals`](Self::without_approvals).
    #[must_use]
    pub fn approvals(&self) -> Vec<String> {
        self.advances().iter().map(ToString::to_string).collect()
    }

    /// Drops the approvals in its files: these calls then need approval. Its rules that ask or block are kept. An entry
    /// that is a tool is dropped too.
    #[must_use]
    pub fn without_approvals(mut self) -> Self {
        self.mode = self.mode.filter(|(mode, _)| *mode != ApprovalMode::ApproveAll);
        self.policy = self.policy.without_advance();
        for (alias, _) in &mut self.aliases {
            alias.approval.take_if(|rule| *rule == DeclaredRule::PreApproved);
        }
        for (script, _) in &mut self.scripts {
            script.approval.take_if(|rule| *rule == DeclaredRule::PreApproved);
        }
        // A call of the user would run it without approval.
        if self.tool_entry.take().is_some() {
            (self.entry, self.arguments) = (None, None);
        }
        self
    }

    /// Lists the calls that its files approve in advance.
    pub(crate) fn advances(&self) -> Vec<Advance> {
        let of_entry = self.tool_entry.iter().map(|place| Advance { place: place.clone(), calls: self.entry_call() });
        let of_mode = self.mode.iter().filter(|(mode, _)| *mode == ApprovalMode::ApproveAll);
        let of_mode = of_mode.map(|(_, place)| Advance { place: place.clone(), calls: EVERY_CALL.to_owned() });
        let of_policy = self.policy.approved_in_advance().into_iter().map(|(place, calls)| {
            let place = place.map_or_else(|| "the policy of the project".to_owned(), str::to_owned);
            Advance { place, calls }
        });
        let of_files = self.aliases.iter().filter(|(alias, _)| alias.approval == Some(DeclaredRule::PreApproved));
        let of_files = of_files.map(|(alias, origin)| {
            let place = place_of(origin, "approval");
            let calls = format!("every call of `{}`, another name of `{}`", alias.name, alias.target);
            Advance { place, calls }
        });
        let of_scripts = self.scripts.iter().filter(|(script, _)| script.approval == Some(DeclaredRule::PreApproved));
        let of_scripts = of_scripts.map(|(script, origin)| {
            let calls = format!("every call of the script `{}`", script.name);
            Advance { place: place_of(origin, "approval"), calls }
        });
        of_entry.chain(of_mode).chain(of_policy).chain(of_files).chain(of_scripts).collect()
    }

    /// Describes the call of the entry.
    fn entry_call(&self) -> String {
        let name = self.entry.as_deref().unwrap_or_default();
        match &self.arguments {
            Some(arguments) => format!("the entry is the call of `{name}` with {arguments}"),
            None => format!("the entry is the call of `{name}` with what the user gives"),
        }
    }
}

/// Returns the place of a key of a file.
fn place_of(origin: &Origin, key: &str) -> String {
    match origin {
        Origin::File(file) => file.place_of(key),
        other => other.to_string(),
    }
}
