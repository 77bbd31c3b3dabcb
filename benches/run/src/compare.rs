//! All ways in turn, each in a process of its own, and how they compare.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, Command, ExitCode, Stdio};

use clap::ValueEnum;

use crate::client::{Load, Way};

/// The most that a run of ours may take, in times of one by hand.
const MOST: f64 = 2.0;

/// Measures all ways in turn, shows them, and fails if one of ours takes too long.
pub(crate) fn compare(load: &Load, rounds: usize) -> io::Result<ExitCode> {
    let mut server = started(&["serve"])?;
    let times = line(&mut server).and_then(|base_url| measured(&base_url, load, rounds));
    server.kill()?;
    server.wait()?;
    show(&times?)
}

/// Returns the figures of each way, over the rounds.
fn measured(base_url: &str, load: &Load, rounds: usize) -> io::Result<Vec<(Way, Vec<f64>)>> {
    let mut times: Vec<_> = Way::value_variants().iter().map(|way| (*way, Vec::new())).collect();
    let Load { runs, at_a_time, threads } = load;
    let load = [format!("--runs={runs}"), format!("--at-a-time={at_a_time}"), format!("--threads={threads}")];
    for round in 0..rounds {
        // There and back, so that no way always follows the same one.
        if round > 0 {
            times.reverse();
        }
        for (way, times) in &mut times {
            let name = name(*way);
            let mut args = vec!["measure", &name, base_url];
            args.extend(load.iter().map(String::as_str));
            let mut client = started(&args)?;
            let figure = line(&mut client)?;
            client.wait()?;
            times.push(figure.parse().map_err(|_| io::Error::other(format!("`{name}` failed; see above")))?);
        }
    }
    times.sort_by_key(|(way, _)| *way);
    Ok(times)
}

fn show(times: &[(Way, Vec<f64>)]) -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    writeln!(out, "{:20}{:>7}{:>15}{:>10}   all rounds", "way", "CPU µs", "same by hand", "by hand")?;
    let mut holds = true;
    for (way, rounds) in times {
        let ratio = |opponent| median(rounds) / of(times, opponent);
        let (same, plain) = (ratio(way.opponent()), ratio(Way::ByHand));
        holds &= same <= MOST;
        let all: Vec<_> = rounds.iter().map(|time| format!("{time:.0}")).collect();
        let time = median(rounds);
        writeln!(out, "{:20}{time:>6.0}{same:>14.2}x{plain:>9.2}x   {}", name(*way), all.join(" "))?;
    }
    let verdict = if holds { "none takes more than" } else { "some take more than" };
    writeln!(out, "{verdict} {MOST} times what the same takes by hand")?;
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn of(times: &[(Way, Vec<f64>)], way: Way) -> f64 {
    times.iter().find(|(other, _)| *other == way).map_or(f64::NAN, |(_, rounds)| median(rounds))
}

fn median(rounds: &[f64]) -> f64 {
    let mut sorted = rounds.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

fn name(way: Way) -> String {
    way.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
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
