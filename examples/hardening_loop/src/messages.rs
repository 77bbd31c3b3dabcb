//! Messages of customers, with their queues.

use std::sync::LazyLock;

/// The messages whose runs are recorded; those after them measure the rungs.
pub(crate) const RECORDED: usize = 600;
/// The messages that measure the rungs.
pub(crate) const MEASURED: usize = 200;

/// A message, and the queue in which a person would put it.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) queue: &'static str,
}

static ALL: LazyLock<Vec<Message>> = LazyLock::new(|| (0..RECORDED + MEASURED).map(message).collect());

/// Returns the messages that are recorded, and those that measure.
pub(crate) fn messages() -> (&'static [Message], &'static [Message]) {
    ALL.split_at(RECORDED)
}

/// Returns the message in a prompt, with its place.
pub(crate) fn message_in(prompt: &str) -> Option<(usize, &'static Message)> {
    ALL.iter().enumerate().find(|(_, message)| prompt.contains(&message.text))
}

/// Returns a message; no two are equal.
fn message(at: usize) -> Message {
    let (round, issue) = (at / ISSUES.len(), at % ISSUES.len());
    let (queue, text) = ISSUES[issue];
    let opener = OPENERS[round % OPENERS.len()];
    let closer = CLOSERS[(round / OPENERS.len() + 6 * round + issue) % CLOSERS.len()];
    Message { text: format!("{opener} {text} {closer}"), queue }
}

const OPENERS: [&str; 10] = [
    "Hello,",
    "Good morning,",
    "Hi team,",
    "Please help:",
    "A short question:",
    "Once more:",
    "Urgent:",
    "Dear support,",
    "Since yesterday:",
    "For our records:",
];

const CLOSERS: [&str; 10] = [
    "Thank you.",
    "What can I do?",
    "Please reply today.",
    "Kind regards",
    "I am waiting.",
    "It is not the first time.",
    "Can you look into it?",
    "My colleagues ask too.",
    "We use the team plan.",
    "I could not find it in the help.",
];

const ISSUES: [(&str, &str); 24] = [
    ("billing", "the invoice of last month is too high."),
    ("technical", "the app crashes when I open a file."),
    ("account", "how do I add a colleague to my team?"),
    ("billing", "I was charged twice for one order."),
    ("technical", "an error appears when I save."),
    ("account", "please close my account."),
    ("billing", "the payment with my card was refused."),
    ("technical", "the page stays white after the login."),
    ("account", "I want to change my email address."),
    ("billing", "I need an invoice with our tax number."),
    ("technical", "the app crashes since the update."),
    ("account", "where do I reset my password?"),
    ("billing", "the discount is missing on the invoice."),
    ("technical", "the export ends with an error."),
    ("account", "my colleague cannot see the shared folder."),
    ("billing", "the payment ended with an error of the bank."),
    ("technical", "the page with my invoice shows an error."),
    ("account", "please move the account to my new company."),
    ("billing", "we were charged after we had cancelled."),
    ("technical", "the search finds nothing, although the files are there."),
    ("account", "how many users may my team have?"),
    ("billing", "when is the next payment due?"),
    ("technical", "the sync hangs at ninety percent."),
    ("account", "who is the owner of our account?"),
];
