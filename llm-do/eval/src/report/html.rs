//! A report as one HTML page, with a plot in SVG and without scripts.

use std::fmt::Write;

use super::build::metric_names;
use super::text::{metric, reasons, seconds, signed};
use super::{Estimate, Report, VariantSummary};
use crate::record::RunRecord;

const STYLE: &str = include_str!("page.css");
/// The left edge of the scale in the plot, in pixels.
const LEFT: f64 = 260.0;
const WIDTH: f64 = 420.0;
const ROW: usize = 22;

pub(super) fn page(report: &Report) -> String {
    let title = escape(report.dataset.as_deref().unwrap_or("Evaluation"));
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<p>{} cases, {} runs each, seed {}. \
         Intervals: 95 %, by the bootstrap over cases; exact where all cases have the same share.</p>\n",
        report.cases, report.repetitions, report.seed
    );
    html.push_str(&plot(report));
    html.push_str(&summary(report));
    if !report.comparisons.is_empty() {
        html.push_str(&comparisons(report));
    }
    html.push_str(&runs(report));
    html.push_str("</body>\n</html>\n");
    html
}

/// Returns the text with escaped HTML characters, also for attributes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Not allowed in HTML.
            control if control.is_control() && !matches!(control, '\n' | '\t') => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Plots each metric: a dot for the mean of each variant, a line for its interval.
fn plot(report: &Report) -> String {
    let (mut body, mut row) = (String::new(), 0);
    for name in metric_names(&report.runs) {
        let estimates: Vec<_> =
            report.variants.iter().filter_map(|variant| Some((variant, variant.metric(&name)?.estimate?))).collect();
        let Some(scale) = Scale::covering(estimates.iter().map(|(_, estimate)| estimate)) else { continue };
        row += 1;
        write_text(&mut body, 0.0, row, "metric", &name);
        write_text(&mut body, LEFT, row, "end", &format!("{:.3}", scale.low));
        write_text(&mut body, LEFT + WIDTH, row, "end", &format!("{:.3}", scale.high));
        for (variant, estimate) in &estimates {
            row += 1;
            interval(&mut body, row, variant, estimate, &scale);
        }
    }
    let (width, height) = (LEFT + WIDTH + 60.0, (row + 1) * ROW);
    format!(
        "<h2>Metrics</h2>\n<svg role=\"img\" aria-label=\"Means with intervals\" width=\"{width}\" height=\"{height}\">\n{body}</svg>\n"
    )
}

/// The values at the ends of the plot.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// From 0 to 1 if all values are within it.
    fn covering<'a>(estimates: impl Iterator<Item = &'a Estimate>) -> Option<Self> {
        let ends = estimates.flat_map(|estimate| [estimate.low, estimate.high]);
        let (low, high) =
            ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(end), high.max(end)));
        if low > high {
            return None;
        }
        Some(if low >= 0.0 && high <= 1.0 { Self { low: 0.0, high: 1.0 } } else { Self { low, high } })
    }

    fn place(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        LEFT + WIDTH * if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.5 }
    }
}

fn write_text(body: &mut String, x: f64, row: usize, class: &str, text: &str) {
    let y = row * ROW;
    let _ = writeln!(body, "<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{}</text>", escape(text));
}

fn interval(body: &mut String, row: usize, variant: &VariantSummary, estimate: &Estimate, scale: &Scale) {
    write_text(body, 16.0, row, "variant", &variant.name);
    let (low, mean, high) = (scale.place(estimate.low), scale.place(estimate.mean), scale.place(estimate.high));
    let y = row * ROW - ROW / 4;
    let _ = writeln!(
        body,
        "<line class=\"scale\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\"/>\n<line class=\"interval\" x1=\"{low:.1}\" \
         x2=\"{high:.1}\" y1=\"{y}\" y2=\"{y}\"/>\n<circle cx=\"{mean:.1}\" cy=\"{y}\" r=\"4\"><title>{:.3} [{:.3}, {:.3}]</title>\
         </circle>",
        LEFT + WIDTH,
        estimate.mean,
        estimate.low,
        estimate.high
    );
}

fn summary(report: &Report) -> String {
    let mut rows =
        vec![(String::new(), report.variants.iter().map(|variant| variant.name.clone()).collect::<Vec<_>>())];
    let mut add = |name: &str, cell: &dyn Fn(&VariantSummary) -> String| {
        rows.push((name.to_owned(), report.variants.iter().map(cell).collect()));
    };
    for name in metric_names(&report.runs) {
        add(&name, &|variant| variant.metric(&name).map(metric).unwrap_or_default());
    }
    add("failed runs", &|variant| format!("{} of {}", variant.failed, variant.runs));
    add("unsure runs", &|variant| format!("{} of {}", variant.unsure, variant.runs));
    add("runs not judged", &|variant| variant.not_judged.to_string());
    add("time, median", &|variant| seconds(variant.latency.p50));
    add("time, 90 %", &|variant| seconds(variant.latency.p90));
    add("time, 99 %", &|variant| seconds(variant.latency.p99));
    add("requests", &|variant| variant.usage.model.requests.to_string());
    add("tokens", &|variant| variant.usage.model.total_tokens().to_string());
    add("cost", &|variant| variant.usage.cost.to_string());
    add("cost of judges", &|variant| variant.judge_usage.cost.to_string());
    let line = |(index, (name, cells)): (usize, &(String, Vec<String>))| {
        let tag = if index == 0 { "th" } else { "td" };
        let cells: Vec<_> = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect();
        let cells = cells.concat();
        format!("<tr><th>{}</th>{cells}</tr>\n", escape(name))
    };
    format!("<table>\n{}</table>\n", rows.iter().enumerate().map(line).collect::<String>())
}

fn comparisons(report: &Report) -> String {
    let row = |comparison: &super::Comparison| {
        format!(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.4}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            escape(&comparison.variant),
            escape(&comparison.baseline),
            escape(&comparison.metric),
            signed(&comparison.difference),
            comparison.p,
            comparison.higher,
            comparison.lower,
            comparison.cases
        )
    };
    format!(
        "<h2>Comparisons</h2>\n<table>\n<tr><th>variant</th><th>against</th><th>metric</th><th>difference</th><th>p</th>\
         <th>higher</th><th>lower</th><th>cases</th></tr>\n{}</table>\n",
        report.comparisons.iter().map(row).collect::<String>()
    )
}

fn runs(report: &Report) -> String {
    let rows: String = report.runs.iter().map(run).collect();
    format!(
        "<h2>Runs</h2>\n<table>\n<tr><th>case</th><th>run</th><th>variant</th><th></th><th>time</th><th>output</th>\
         <th>findings</th></tr>\n{rows}</table>\n"
    )
}

fn run(run: &RunRecord) -> String {
    let (class, text) = match (run.passes(), run.unsure) {
        (true, _) => ("pass", "pass"),
        (false, true) => ("unsure", "unsure"),
        (false, false) => ("fail", "fail"),
    };
    let output = match (&run.output, &run.error) {
        (Some(output), _) => output.as_str().map_or_else(|| output.to_string(), str::to_owned),
        (None, error) => error.clone().unwrap_or_default(),
    };
    let values = run.findings.iter().map(|finding| format!("{} = {}", finding.name, finding.value));
    let details = values.chain(reasons(run)).map(|text| format!("<li>{}</li>", escape(&text)));
    let details = details.collect::<Vec<_>>().concat();
    format!(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"{class}\">{text}</td><td>{}</td><td><pre>{}</pre></td>\
         <td><ul>{details}</ul></td></tr>\n",
        escape(&run.case),
        run.repetition,
        escape(&run.variant),
        seconds(run.seconds),
        escape(&output)
    )
}
