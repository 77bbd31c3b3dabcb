//! `chat`: a conversation with a worker or an entry.

mod command;
mod compact_on_demand;
mod lines;
mod saved;

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::pin::pin;
use std::sync::Arc;

use llm_do_core::base::error::CallError;
use llm_do_core::base::printable::printable;
use llm_do_core::observe::event::{EffectSink, Verbosity};
use llm_do_core::plane::history::History;
use llm_do_core::plane::mailbox::RunMessage;
use llm_do_core::plane::registry::{Registered, Registry};
use llm_do_core::session::runtime::{Chat, Runtime, RuntimeBuilder};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::command::{COMMANDS, Input};
use self::compact_on_demand::CompactOnDemand;
use self::lines::Lines;
use self::saved::{Saved, Store};
use super::args::ChatOptions;
use super::input::{attach, from_prompt, named, read_files};
use super::listener::Listener;
use super::output::print_unless_shown;
use super::progress::Progress;
use super::record::Recorder;
use super::run::{configure, described, terminated};
use super::setup::async_runtime;
use super::terminal_user::TerminalUser;
use super::{CommandError, print};

/// The number of the last messages that `/history` shows.
const SHOWN_MESSAGES: usize = 20;

/// Runs a chat with the worker or entry of the options, until the input ends.
pub(super) fn chat(builder: RuntimeBuilder, mut options: ChatOptions, runs_projects: bool) -> Result<(), CommandError> {
    options.session.items.take_path(&mut options.name);
    let mut settings = options.session.settings().read(options.session.items.project.as_deref())?;
    let store = Store::open(settings.chats.get())?;
    if options.resume.as_deref() == Some("") {
        return print(&printable(&store.list()?));
    }
    let mut saved = store.chosen(&options)?;
    let (mut builder, entries) = options.session.add_files(builder, &mut settings, runs_projects)?;
    let name = options.name.as_deref().or(saved.as_ref().map(|saved| saved.name.as_str()));
    let roots = entries.roots(name, None, false);
    let registry = super::project::collect_for(&mut builder, roots)?;
    let partner = named(&registry, &entries, name)?;
    // Checked before the first message: any text must be valid as its input.
    from_prompt(partner, "hello", &[]).map_err(|_| one_text(partner))?;
    let files = read_files(partner, &options.attach)?;
    let compact = CompactOnDemand::new(partner.model());
    let partner = partner.name().to_owned();
    let recorder = Recorder::open(&options.record)?;
    let progress = Progress::new(settings.verbosity());
    progress.show_answers(&registry);
    let effects = Arc::new(EffectSink::default());
    let builder = configure(builder, &settings, &entries, &progress).history_processor(compact.clone());
    let builder = options.session.keep_evidence(builder, entries.project.as_deref());
    let builder = recorder.add_to(builder.shared_sink(Arc::clone(&effects) as _));
    progress.show_panics();
    let runtime = builder.build_on(registry).map_err(CommandError::from_error)?;
    let mut saved = saved.take().unwrap_or_else(|| store.new_chat(&partner));
    saved.name.clone_from(&partner);
    let chat = runtime.chat().with_state(saved.state.clone());
    let lines = Lines::new(&progress);
    let mut dialogue = Dialogue {
        runtime,
        chat,
        partner,
        files,
        saved,
        store,
        progress,
        lines,
        typed: VecDeque::new(),
        compact,
        effects,
        recorder,
        verbosity: settings.verbosity(),
        has_failed: false,
        termination: CancellationToken::new(),
    };
    let tokio = async_runtime()?;
    tokio.spawn(terminated(dialogue.termination.clone()));
    let result = tokio.block_on(async {
        let result = dialogue.run().await;
        let Dialogue { recorder, termination, .. } = dialogue;
        result.and(recorder.finish(&termination).await)
    });
    // Does not wait for running sync tools, since they cannot be stopped.
    tokio.shutdown_background();
    result
}

/// A chat with its display and its file.
struct Dialogue {
    runtime: Runtime,
    chat: Chat,
    /// The name of the worker or entry.
    partner: String,
    /// The files for the next message.
    files: Vec<Value>,
    saved: Saved,
    store: Store,
    progress: Progress,
    lines: Lines,
    /// What the user typed while an answer was pending, and its run did not take: the next messages.
    typed: VecDeque<String>,
    compact: CompactOnDemand,
    /// The effects of the latest message.
    effects: Arc<EffectSink>,
    recorder: Recorder,
    verbosity: Verbosity,
    /// Whether a message failed.
    has_failed: bool,
    /// Cancelled when the system asks this program to end.
    termination: CancellationToken,
}

/// The action after a line.
enum Next {
    Line,
    End,
}

impl Dialogue {
    async fn run(&mut self) -> Result<(), CommandError> {
        self.greet();
        loop {
            let line = tokio::select! {
                line = next_line(&mut self.typed, &self.lines) => line?,
                () = self.termination.cancelled() => None,
                interrupted = tokio::signal::ctrl_c() => match interrupted {
                    Ok(()) => None,
                    Err(error) => return Err(CommandError::from_error(error)),
                },
            };
            let Some(line) = line else { break };
            match Input::parse(&line) {
                Input::Nothing => {}
                Input::Message(text) => self.send(text).await?,
                Input::Command(name, rest) => match self.command(name, rest)? {
                    Next::Line => {}
                    Next::End => break,
                },
            }
        }
        self.leave()
    }

    fn greet(&self) {
        if self.lines.is_terminal() {
            let known = self.chat.state().workers.values().map(|history| history.messages().len()).sum::<usize>();
            let past = if known == 0 { String::new() } else { format!(", {known} messages so far") };
            note(&format!("chat {} with `{}`{past}; /help lists the commands", self.saved.id, self.partner));
        }
    }

    fn leave(&self) -> Result<(), CommandError> {
        if self.lines.is_terminal() && self.saved.is_stored {
            note(&format!("to continue: chat --resume {}", self.saved.id));
        }
        if self.has_failed && !self.lines.is_terminal() {
            return Err(CommandError::Error("not all messages were answered".to_owned()));
        }
        Ok(())
    }

    /// Sends a message and prints the answer; Ctrl+C stops it.
    async fn send(&mut self, text: &str) -> Result<(), CommandError> {
        let item = self.item();
        let mut arguments = from_prompt(&item, text, &[])?;
        attach(self.files.clone(), &mut arguments);
        self.recorder.set_continued(self.remembers());
        let result = self.answer(arguments).await;
        self.progress.settle().await;
        let shown = self.progress.take_answer();
        // Saved before the answer is printed, since a reader of the answer may end the program.
        self.save(text);
        match result {
            Some(Ok(value)) => {
                // A message without an answer is sent again with its files.
                self.files.clear();
                return print_unless_shown(&value, shown.as_deref());
            }
            Some(Err(error)) => self.fail(&described(&error, self.verbosity)),
            None => self.fail("stopped by the user"),
        }
        Ok(())
    }

    /// Sends arguments and waits for the answer; passes on what the user types meanwhile. `None` if the user stops it.
    async fn answer(&mut self, arguments: Value) -> Option<Result<Value, CallError>> {
        let (run, mut listener) = (self.chat.handle(), self.lines.listen());
        let mut interrupted = pin!(tokio::signal::ctrl_c());
        let mut answering = self.chat.send_named(&self.partner, arguments);
        let result = loop {
            tokio::select! {
                result = &mut answering => break Some(result),
                _ = &mut interrupted => break None,
                () = self.termination.cancelled() => break None,
                text = typed(&mut listener) => match command::steering(&text) {
                    Some(message) if run.send(message.clone()).is_ok() => note(taken(&message)),
                    Some(_) => self.typed.push_back(text),
                    None => note("commands wait until the answer is complete; Ctrl+C stops it"),
                },
            }
        };
        drop(answering);
        if let Some(listener) = listener {
            self.typed.extend(listener.stop().await);
        }
        result
    }

    /// Returns whether the chat has earlier messages.
    fn remembers(&self) -> bool {
        let state = self.chat.state();
        state.workers.values().chain(state.threads.values()).any(|history| !history.messages().is_empty())
    }

    fn item(&self) -> Arc<Registered> {
        let registry: &Registry = self.runtime.registry();
        let item = registry.get(&self.partner).map(Arc::clone);
        item.unwrap_or_else(|| unreachable!("the name was found in the registry"))
    }

    fn fail(&mut self, error: &str) {
        self.has_failed = true;
        note(&format!("error: {error}{}", self.effects.log().after_error()));
    }

    fn save(&mut self, message: &str) {
        if self.saved.title.is_empty() {
            self.saved.title = message.lines().next().unwrap_or_default().chars().take(60).collect();
        }
        self.save_state();
    }

    fn save_state(&mut self) {
        self.saved.state = self.chat.state();
        if let Err(error) = self.store.save(&mut self.saved) {
            note(&format!("warning: the chat is not saved: {error}"));
        }
    }

    fn command(&mut self, name: &str, rest: &str) -> Result<Next, CommandError> {
        match name {
            "help" => COMMANDS.iter().try_for_each(|(name, help)| print(&format!("/{name:10} {help}")))?,
            "tools" => self.tools()?,
            "cost" => print(printable(&self.chat.state().usage.to_string()).trim_end())?,
            "model" => self.model(rest)?,
            "clear" => self.clear(),
            "compact" => {
                self.compact.request();
                note("each conversation so far is summarized before its next message");
            }
            "pin" => self.pin(),
            "history" => self.history()?,
            "quit" | "exit" => return Ok(Next::End),
            _ => note(&command::unknown(name)),
        }
        Ok(Next::Line)
    }

    fn tools(&self) -> Result<(), CommandError> {
        let item = self.item();
        let Some(declared) = item.declared() else {
            return print("everything in the runtime; `tools` lists it");
        };
        let names: Vec<_> = declared.collect();
        print(&if names.is_empty() { "no tools".to_owned() } else { names.join("\n") })
    }

    fn model(&self, name: &str) -> Result<(), CommandError> {
        let item = self.item();
        match (name, item.model()) {
            (_, Some(own)) => note(&format!("`{}` declares its own model: {own}", self.partner)),
            ("", None) => return print(&self.runtime.model_name().unwrap_or_else(|| "no model is set".to_owned())),
            (name, None) => match self.runtime.replace_model(name) {
                Ok(()) => note(&format!("the model is now {name}")),
                Err(error) => note(&format!("error: {error}")),
            },
        }
        Ok(())
    }

    /// Starts a new chat; the old one stays saved.
    fn clear(&mut self) {
        self.saved = self.store.new_chat(&self.partner);
        self.chat = self.runtime.chat();
        self.compact.withdraw();
        note(&format!("a new chat: {}", self.saved.id));
    }

    /// Keeps the last message of the user when the conversation is summarized.
    fn pin(&mut self) {
        if self.chat.pin_last(&self.partner) {
            self.save_state();
            note("your last message stays when the conversation is summarized");
        } else {
            note(&format!("`{}` has no message to pin", self.partner));
        }
    }

    fn history(&self) -> Result<(), CommandError> {
        let state = self.chat.state();
        let messages: Vec<_> =
            state.workers.values().chain(state.threads.values()).flat_map(History::messages).collect();
        let mut text = String::new();
        let left_out = messages.len().saturating_sub(SHOWN_MESSAGES);
        if left_out > 0 {
            let _ = writeln!(text, "… {left_out} earlier messages");
        }
        for message in &messages[left_out..] {
            for line in command::shown(message) {
                let _ = writeln!(text, "{line}");
            }
        }
        print(printable(text.trim_end()).as_ref())
    }
}

/// Returns the next line: what was typed before, or is typed now.
async fn next_line(typed: &mut VecDeque<String>, lines: &Lines) -> Result<Option<String>, CommandError> {
    match typed.pop_front() {
        Some(line) => Ok(Some(line)),
        None => lines.next().await,
    }
}

/// Returns what the user types next; never returns if nothing listens.
async fn typed(listener: &mut Option<Listener>) -> String {
    match listener {
        Some(listener) => listener.next().await,
        None => std::future::pending().await,
    }
}

/// Returns the note about a message that a run has taken.
fn taken(message: &RunMessage) -> &'static str {
    if message.interrupts() {
        "the model is interrupted, and gets your message"
    } else {
        "the model gets your message after what it does now; begin with `!` to interrupt it"
    }
}

/// Returns the error for a worker or entry whose input is not a single text.
fn one_text(partner: &Registered) -> CommandError {
    let text = format!("`{}` does not take one text as its input, so it cannot chat: use `run`", partner.name());
    CommandError::Usage(text)
}

/// Writes a line of the program itself to standard error.
fn note(text: &str) {
    // Ignored: standard error may be closed.
    let _ = writeln!(io::stderr(), "{}", printable(text));
}
