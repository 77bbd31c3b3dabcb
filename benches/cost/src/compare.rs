//! Measures all variants in turn, each in a separate process, and compares them.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, Command, ExitCode, Stdio};

use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::figures::Figures;
use crate::http::{self, Pace, Responder};
use crate::load::Load;
use crate::valgrind;

/// An implementation of the measured operation.
pub trait Variant: Copy + PartialEq + 'static {
    /// The maximum CPU time, as a multiple of the baseline.
    const MAX_RATIO: f64;
    /// Returns the server's response to a request.
    const RESPONDER: Responder;

    /// All variants, in the order of the table.
    fn all() -> Vec<Self>;

    /// The name in the table and on the command line.
    fn name(self) -> String;

    /// Measures this variant with the server at `base_url`.
    fn measure(self, base_url: &str, load: &Load) -> Figures;

    /// The hand-written variant that does the same.
    #[must_use]
    fn baseline(self) -> Self;

    /// The simplest hand-written variant, if it differs from the baseline.
    fn simplest_baseline(self) -> Option<Self> {
        None
    }
}

/// Measures all variants, prints a table, and fails if one exceeds its maximum.
///
/// # Errors
///
/// Returns an error if a process cannot be started, or prints no figures.
pub(crate) fn compare<W: Variant>(load: &Load, rounds: usize, paced: bool) -> io::Result<ExitCode> {
    let mut server = spawn(if paced { &["serve", "--paced"] } else { &["serve"] })?;
    let figures = line(&mut server).and_then(|base_url| measured::<W>(&base_url, load, rounds));
    server.kill()?;
    server.wait()?;
    show(&figures?)
}

/// The two numbers of operations whose difference is counted, so that what is done once does not count.
const FEW: u32 = 5;
const MANY: u32 = 25;

/// Counts the instructions of one operation of each variant, one after the other, and prints a table.
///
/// # Errors
///
/// Returns an error if valgrind is not installed, or if a process cannot be started.
pub(crate) fn count<W: Variant>() -> io::Result<()> {
    if !valgrind::is_installed() {
        return Err(io::Error::other("`valgrind` is not installed"));
    }
    let mut server = spawn(&["serve"])?;
    let counts = line(&mut server).and_then(|base_url| counted::<W>(&base_url));
    server.kill()?;
    server.wait()?;
    let counts = counts?;
    let mut out = io::stdout().lock();
    writeln!(out, "{:30}{:>14}{:>14}", "variant", "instructions", "/ baseline")?;
    for (variant, count) in &counts {
        let baseline =
            counts.iter().find(|(other, _)| *other == variant.baseline()).map_or(f64::NAN, |(_, count)| *count);
        writeln!(out, "{:30}{count:>14.0}{:>13.2}x", variant.name(), count / baseline)?;
    }
    Ok(())
}

fn counted<W: Variant>(base_url: &str) -> io::Result<Vec<(W, f64)>> {
    let count = |variant: W, times: u32| {
        let load = Load { count: Some(times), concurrency: 1, threads: 1, untimed: true }.args();
        let name = variant.name();
        let arguments: Vec<_> =
            ["measure", &name, base_url].into_iter().chain(load.iter().map(String::as_str)).collect();
        valgrind::instructions(&arguments, "/dev/null")
    };
    let each = |variant| Ok((variant, (count(variant, MANY)? - count(variant, FEW)?) / f64::from(MANY - FEW)));
    W::all().into_iter().map(each).collect()
}

/// Writes the server's address to the standard output, and serves until the process is killed.
///
/// # Errors
///
/// Returns an error if no port can be bound.
pub(crate) fn serve(responder: Responder, pace: Pace) -> io::Result<()> {
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        writeln!(io::stdout(), "http://{}", listener.local_addr()?)?;
        http::serve(listener, responder, pace, None).await
    })
}

/// Returns the figures of each variant, one for each round.
fn measured<W: Variant>(base_url: &str, load: &Load, rounds: usize) -> io::Result<Vec<(W, Vec<Figures>)>> {
    let mut variants: Vec<_> = W::all().into_iter().map(|variant| (variant, Vec::new())).collect();
    let load = load.args();
    for round in 0..rounds {
        // The order alternates, so that no variant always follows the same one.
        if round > 0 {
            variants.reverse();
        }
        for (variant, figures) in &mut variants {
            let name = variant.name();
            let mut args = vec!["measure", &name, base_url];
            args.extend(load.iter().map(String::as_str));
            let mut client = spawn(&args)?;
            let output = line(&mut client)?;
            client.wait()?;
            figures.push(
                output.parse().map_err(|_| io::Error::other(format!("variant `{name}` failed; its error is above")))?,
            );
        }
    }
    if rounds.is_multiple_of(2) {
        variants.reverse();
    }
    Ok(variants)
}

fn show<W: Variant>(variants: &[(W, Vec<Figures>)]) -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    let headings = ("variant", "CPU µs", "/ baseline", "/ simplest", "peak MiB");
    writeln!(
        out,
        "{:30}{:>9}{:>14}{:>10}{:>10}   all rounds",
        headings.0, headings.1, headings.2, headings.3, headings.4
    )?;
    let mut holds = true;
    for (variant, rounds) in variants {
        let time = cpu(rounds);
        let against = |other| {
            time / variants.iter().find(|(variant, _)| *variant == other).map_or(f64::NAN, |(_, rounds)| cpu(rounds))
        };
        let ratio = against(variant.baseline());
        holds &= ratio <= W::MAX_RATIO;
        let simplest = variant.simplest_baseline().map_or_else(String::new, |other| format!("{:.2}x", against(other)));
        let peak = median(rounds.iter().map(|figures| figures.peak));
        let all: Vec<_> = rounds.iter().map(|figures| format!("{:.0}", figures.cpu)).collect();
        let name = variant.name();
        writeln!(out, "{name:30}{time:>8.0}{ratio:>13.2}x{simplest:>10}{peak:>10.1}   {}", all.join(" "))?;
    }
    let verdict = if holds { "passed: no variant exceeds" } else { "failed: a variant exceeds" };
    writeln!(out, "{verdict} {} times the CPU time of its hand-written baseline", W::MAX_RATIO)?;
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

/// Starts this program as a child process with the given arguments.
fn spawn(args: &[&str]) -> io::Result<Child> {
    Command::new(env::current_exe()?).args(args).stdout(Stdio::piped()).spawn()
}

/// Reads the line that a child process writes.
fn line(child: &mut Child) -> io::Result<String> {
    let mut line = String::new();
    if let Some(out) = child.stdout.take() {
        BufReader::new(out).read_line(&mut line)?;
    }
    Ok(line.trim().to_owned())
}
