//! Messages of customers, with their queues.

/// A message, and the queue in which a person would put it.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) text: String,
    pub(crate) queue: &'static str,
}

/// Returns this many messages.
pub(crate) fn messages(count: usize) -> Vec<Message> {
    (1..=count).map(message).collect()
}

fn message(number: usize) -> Message {
    let (text, queue) = match number % 8 {
        0 => (format!("Invoice {number} is too high."), "billing"),
        1 => (format!("I was charged twice for order {number}."), "billing"),
        2 => (format!("The app crashes when I open file {number}."), "technical"),
        3 => (format!("Error {number} appears when I save."), "technical"),
        4 => (format!("How do I add user {number} to my team?"), "account"),
        5 => (format!("Please close account {number}."), "account"),
        6 => (format!("My payment {number} ends with an error of the bank."), "billing"),
        _ => (format!("The page with my invoice {number} shows an error."), "technical"),
    };
    Message { text, queue }
}
