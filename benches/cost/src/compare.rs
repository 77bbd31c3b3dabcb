//! All ways in turn, each in a process of its own, and how they compare.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, Command, ExitCode, Stdio};

use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::figures::Figures;
use crate::http::{self, Answering, Pace};
use crate::load::Load;

/// A way to do a piece of work.
pub trait Way: Copy + PartialEq + 'static {
    /// The most that one may take, in times of its opponent.
    const MOST: f64;
    /// What the server says.
    const ANSWERING: Answering;

    /// All of them, in the order in which they are shown.
    fn all() -> Vec<Self>;

    /// The name, which is also the argument that says which one to measure.
    fn name(self) -> String;

    /// Measures it against the server at `base_url`.
    fn measure(self, base_url: &str, load: &Load) -> Figures;

    /// The way by hand that does the same.
    #[must_use]
    fn opponent(self) -> Self;

    /// The plainest way by hand, if another than the opponent.
    fn plainest(self) -> Option<Self> {
        None
    }
}

/// Measures all ways in turn, shows them, and fails if one takes more than it may.
///
/// # Errors
///
/// Returns an error if a process cannot be started, or says no figures.
pub(crate) fn compare<W: Way>(load: &Load, rounds: usize, paced: bool) -> io::Result<ExitCode> {
    let mut server = started(if paced { &["serve", "--paced"] } else { &["serve"] })?;
    let figures = line(&mut server).and_then(|base_url| measured::<W>(&base_url, load, rounds));
    server.kill()?;
    server.wait()?;
    show(&figures?)
}

/// Serves until the process is ended, once its address is written.
///
/// # Errors
///
/// Returns an error if it cannot listen.
pub(crate) fn serve(answering: Answering, pace: Pace) -> io::Result<()> {
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        writeln!(io::stdout(), "http://{}", listener.local_addr()?)?;
        http::serve(listener, answering, pace, None).await
    })
}

/// Returns the figures of each way, over the rounds.
fn measured<W: Way>(base_url: &str, load: &Load, rounds: usize) -> io::Result<Vec<(W, Vec<Figures>)>> {
    let mut ways: Vec<_> = W::all().into_iter().map(|way| (way, Vec::new())).collect();
    let load = load.args();
    for round in 0..rounds {
        // There and back, so that no way always follows the same one.
        if round > 0 {
            ways.reverse();
        }
        for (way, figures) in &mut ways {
            let name = way.name();
            let mut args = vec!["measure", &name, base_url];
            args.extend(load.iter().map(String::as_str));
            let mut client = started(&args)?;
            let said = line(&mut client)?;
            client.wait()?;
            figures.push(said.parse().map_err(|_| io::Error::other(format!("`{name}` failed; see above")))?);
        }
    }
    if rounds.is_multiple_of(2) {
        ways.reverse();
    }
    Ok(ways)
}

fn show<W: Way>(ways: &[(W, Vec<Figures>)]) -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    let headings = ("way", "CPU µs", "same by hand", "plainest", "peak MiB");
    writeln!(
        out,
        "{:30}{:>9}{:>14}{:>10}{:>10}   all rounds",
        headings.0, headings.1, headings.2, headings.3, headings.4
    )?;
    let mut holds = true;
    for (way, rounds) in ways {
        let time = cpu(rounds);
        let against =
            |other| time / ways.iter().find(|(way, _)| *way == other).map_or(f64::NAN, |(_, rounds)| cpu(rounds));
        let same = against(way.opponent());
        holds &= same <= W::MOST;
        let plainest = way.plainest().map_or_else(String::new, |other| format!("{:.2}x", against(other)));
        let peak = median(rounds.iter().map(|figures| figures.peak));
        let all: Vec<_> = rounds.iter().map(|figures| format!("{:.0}", figures.cpu)).collect();
        let name = way.name();
        writeln!(out, "{name:30}{time:>8.0}{same:>13.2}x{plainest:>10}{peak:>10.1}   {}", all.join(" "))?;
    }
    let verdict = if holds { "none takes more than" } else { "some take more than" };
    writeln!(out, "{verdict} {} times what the same takes by hand", W::MOST)?;
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn cpu(rounds: &[Figures]) -> f64 {
    median(rounds.iter().map(|figures| figures.cpu))
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<_> = figures.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Starts this program for one of its parts.
fn started(args: &[&str]) -> io::Result<Child> {
    Command::new(env::current_exe()?).args(args).stdout(Stdio::piped()).spawn()
}

/// Waits for the line that a part writes.
fn line(part: &mut Child) -> io::Result<String> {
    let mut line = String::new();
    if let Some(out) = part.stdout.take() {
        BufReader::new(out).read_line(&mut line)?;
    }
    Ok(line.trim().to_owned())
}
