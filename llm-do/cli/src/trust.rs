//! Asks the user, once for each project, whether its files may do what they demand.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use llm_do_core::base::clip::clip;
use llm_do_core::base::printable::{printable, printable_line};
use llm_do_core::observe::event::Rows;
use llm_do_project::{Demand, Kind};

use super::CommandError;
use super::agreed::{Agreement, AgreementState};
use super::console::{Console, Terminal};
use super::keyboard::{Keyboard, width};
use super::terminal_user::TerminalUser;

/// The maximum number of shown demands, and of shown bytes of each.
const MAX_SHOWN: usize = 50;
const MAX_LINE: usize = 600;

/// The way in which a command decides about the demands of a project.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Trust {
    /// Agrees to everything, as `--trust-project` does.
    Given,
    /// Agrees to the approvals, since all calls are approved; asks about the other demands.
    ApproveAll,
    /// Asks the user, unless the user agreed before; without a terminal, refuses.
    Ask,
    /// Lists the demands, since nothing runs.
    Show,
}

/// The texts about demands of one kind, or of several kinds.
struct Texts {
    what: &'static str,
    heading: &'static str,
    question: &'static str,
}

const APPROVALS: Texts = Texts {
    what: "files of the project approve calls in advance",
    heading: "Files of the project approve calls in advance",
    question: "Run these calls without asking, now and later? ",
};
const SERVERS: Texts = Texts {
    what: "files of the project name MCP servers, which are not started here",
    heading: "Files of the project name MCP servers, which run with your rights",
    question: "Start them, now and later? ",
};
const ALL: Texts = Texts {
    what: "files of the project do more than ask a model with tools whose calls are approved",
    heading: "Files of the project do more than ask a model with tools whose calls are approved",
    question: "Agree to all of it, now and later? ",
};

/// The question about demands, if a demand among them must be confirmed for each command.
const ONCE: &str = "Agree to all of it, for this command? ";

impl Texts {
    fn for_demands(demands: &[&Demand]) -> &'static Self {
        let is_all = |kind| demands.iter().all(|demand| demand.kind == kind);
        if is_all(Kind::Approval) {
            &APPROVALS
        } else if is_all(Kind::Server) {
            &SERVERS
        } else {
            &ALL
        }
    }
}

/// The demands that are granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grant {
    /// All demands, or there are no demands.
    Everything,
    /// All demands but approvals and servers, without which a project can run.
    WithoutOptional,
    /// No server is started, since the command only lists the items of the project.
    Nothing,
}

/// The files of one folder, with their demands.
#[derive(Debug)]
pub(super) struct Subject {
    /// The name that the user gave.
    pub(super) name: String,
    pub(super) demands: Vec<Demand>,
    pub(super) agreement: Agreement,
}

impl Trust {
    /// Decides about the demands; asks the user if required.
    pub(super) fn decide(self, subjects: &[Subject]) -> Result<Grant, CommandError> {
        let open: Vec<_> = subjects.iter().filter_map(|subject| self.open(subject)).collect();
        let demands: Vec<_> = open.iter().flat_map(|subject| &subject.demands).collect();
        if self == Self::Show {
            if !demands.is_empty() {
                let what = Texts::for_demands(&demands).what;
                note(&format!("note: {what}; `run` and `chat` ask about this:{}", whole(&demands)));
            }
            return Ok(Grant::Nothing);
        }
        let known: Vec<_> = open.iter().map(|subject| subject.agreement.known()).collect();
        let is_for_one_command = demands.iter().any(|demand| demand.is_for_one_command);
        let is_known = !is_for_one_command && known.iter().all(|known| *known == AgreementState::Yes);
        if self == Self::Given || is_known {
            return Ok(Grant::Everything);
        }
        if !TerminalUser::is_available() {
            return Err(refused(&open, &demands, &known));
        }
        ask(&open, &demands, &known, is_for_one_command)
    }

    /// Returns the demands that need the user's agreement, if any.
    fn open(self, subject: &Subject) -> Option<Subject> {
        let Subject { name, demands, agreement } = subject;
        let is_covered = |demand: &Demand| self == Self::ApproveAll && demand.kind == Kind::Approval;
        let demands: Vec<_> = demands.iter().filter(|demand| !is_covered(demand)).cloned().collect();
        let agreement = agreement.with_demands(&demands);
        (!demands.is_empty()).then(|| Subject { name: name.clone(), demands, agreement })
    }
}

/// Asks the user, and stores an agreement unless it is for one command.
fn ask(
    open: &[Subject],
    demands: &[&Demand],
    known: &[AgreementState],
    is_for_one_command: bool,
) -> Result<Grant, CommandError> {
    let (list, is_clipped) = clipped(demands);
    let texts = Texts::for_demands(demands);
    note(&format!("{}:{list}{}", texts.heading, changed(known)));
    let question = if is_for_one_command { ONCE } else { texts.question };
    if !agrees(question, demands, is_clipped).map_err(CommandError::from_error)? {
        let needed: Vec<_> = demands.iter().copied().filter(|demand| !demand.can_be_dropped()).collect();
        return if needed.is_empty() {
            Ok(Grant::WithoutOptional)
        } else {
            Err(CommandError::Usage(format!("the project is not run, since it needs this:{}", clipped(&needed).0)))
        };
    }
    if is_for_one_command {
        return Ok(Grant::Everything);
    }
    for subject in open {
        if let Err(error) = subject.agreement.keep() {
            note(&format!("warning: the answer is not remembered: {error}"));
        }
    }
    Ok(Grant::Everything)
}

/// Asks until the user has seen all demands, and answered.
fn agrees(question: &str, demands: &[&Demand], mut is_clipped: bool) -> io::Result<bool> {
    loop {
        let details = if is_clipped { ", [d]etails" } else { "" };
        let (keyboard, _withdrawal) = Keyboard::open()?;
        let answer = Terminal::new(keyboard).ask(&format!("{question}[y]es, [n]o{details}: "))?;
        let word = answer.unwrap_or_default().trim().to_lowercase();
        let is_yes = ["y", "yes"].contains(&word.as_str());
        if !is_clipped || !(is_yes || ["d", "details"].contains(&word.as_str())) {
            return Ok(is_yes);
        }
        // An agreement does not cover demands that were not shown.
        note(&format!("All of it:{}", whole(demands)));
        is_clipped = false;
    }
}

fn refused(open: &[Subject], demands: &[&Demand], known: &[AgreementState]) -> CommandError {
    let names: Vec<_> = open.iter().map(|subject| printable_line(&subject.name)).collect();
    CommandError::Usage(format!(
        "{}, and no user agreed to this, in {}:{}{}\n\
         nothing is run: read these files, then give --trust-project to agree to it for this command, or run it once in a \
         terminal to be asked",
        Texts::for_demands(demands).what,
        names.join(", "),
        clipped(demands).0,
        changed(known)
    ))
}

/// Names the files that differ from those that the user agreed to.
fn changed(known: &[AgreementState]) -> String {
    let names = known.iter().flat_map(|known| match known {
        AgreementState::Changed(names) => names.as_slice(),
        _ => &[],
    });
    let names: Vec<_> = names.map(|name| printable_line(name)).collect();
    match names.len() {
        0 => String::new(),
        count if count > MAX_SHOWN => format!("\nchanged since you agreed: {count} files"),
        _ => format!("\nchanged since you agreed: {}", names.join(", ")),
    }
}

/// Returns the demands, one per line.
fn whole(demands: &[&Demand]) -> String {
    let mut text = String::new();
    for demand in demands {
        text.push('\n');
        text.push_str(&rows(&printable_line(&demand.to_string())));
    }
    text
}

/// Returns the first demands with the number of omitted ones, and whether any are omitted.
fn clipped(demands: &[&Demand]) -> (String, bool) {
    let (mut text, mut is_clipped) = (String::new(), demands.len() > MAX_SHOWN);
    for demand in demands.iter().take(MAX_SHOWN) {
        let line = printable_line(&demand.to_string());
        let shown = clip(&line, MAX_LINE);
        text.push('\n');
        if shown.len() < line.len() {
            is_clipped = true;
            let more = line.len() - shown.len();
            text.push_str(&rows(&format!("{shown} … and {more} more bytes: `check` shows them")));
        } else {
            text.push_str(&rows(shown));
        }
    }
    if demands.len() > MAX_SHOWN {
        let _ = write!(text, "\n  … and {} more: `check` shows them", demands.len() - MAX_SHOWN);
    }
    (text, is_clipped)
}

/// Returns the rows of one demand: all except the first have a bar, so that a part of a demand does not look like
/// another demand.
fn rows(demand: &str) -> String {
    let rows = Rows { first: "  ", other: "  │ ", width: width() }.format(demand);
    rows.trim_end_matches('\n').to_owned()
}

fn note(text: &str) {
    // Ignored: standard error may be closed.
    let _ = writeln!(io::stderr(), "{}", printable(text));
}
