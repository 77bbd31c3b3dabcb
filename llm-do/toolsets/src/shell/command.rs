//! A command line as words, without the features of a shell.

use super::fault::Fault;

/// The maximum size of a command in bytes: the system takes no longer argument.
const MAX_BYTES: usize = 100_000;

/// Splits a command into its words; fails if a shell would do more than split it.
pub(super) fn split(command: &str) -> Result<Vec<String>, Fault> {
    if command.len() > MAX_BYTES {
        return Err(Fault::TooLong { bytes: command.len(), max: MAX_BYTES });
    }
    if command.contains('\0') {
        return Err(Fault::Nul);
    }
    if let Some(character) = metacharacter(command) {
        return Err(Fault::Metacharacter(character));
    }
    let words = shlex::split(command).ok_or(Fault::Unbalanced)?;
    match words.first() {
        None => Err(Fault::Empty),
        Some(program) if program.is_empty() => Err(Fault::Empty),
        // A shell would set a variable.
        Some(program) if program.contains('=') => Err(Fault::Metacharacter('=')),
        Some(_) => Ok(words),
    }
}

/// Returns the first character that a shell would not treat literally.
fn metacharacter(command: &str) -> Option<char> {
    let (mut quote, mut starts_word) = (None, true);
    let mut characters = command.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => drop(characters.next()),
            (None, '\'' | '"') => quote = Some(character),
            (_, '$' | '`') => return Some(character),
            (None, _) if is_operator(character) || (starts_word && matches!(character, '~' | '#')) => {
                return Some(character);
            }
            _ => {}
        }
        starts_word = quote.is_none() && matches!(character, ' ' | '\t');
    }
    None
}

/// Returns whether a character outside quotes has a special meaning in a shell, anywhere in a word.
fn is_operator(character: char) -> bool {
    matches!(character, '|' | '&' | ';' | '<' | '>' | '(' | ')' | '*' | '?' | '[' | '\n' | '\r')
}
