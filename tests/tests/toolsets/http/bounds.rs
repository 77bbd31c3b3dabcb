//! Pages that would take much more time or memory than their size: they become text within bounds, or an error.

use std::fmt::Write;
use std::time::{Duration, Instant};

use super::server::Server;
use super::{body, fetched, local, text};

/// The default maximum of a page.
const SIZE: usize = 2 << 20;

/// A text that is repeated until a page is full, after which comes a line.
fn full(part: &str) -> String {
    part.repeat(SIZE / part.len() - 20) + "<p>the end</p>"
}

/// Returns the maximum memory that the process used so far, in bytes.
#[cfg(target_os = "linux")]
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().split(' ').next().unwrap().parse::<usize>().unwrap() * 1024
}

async fn ends_in_time(name: &str, html: &str) {
    let server = Server::with("text/html", html);
    let started = Instant::now();
    let result = fetched(local(&server).timeout(Duration::from_secs(60)), server.url("/")).await;
    let took = started.elapsed();
    // Unoptimized, on a busy machine.
    assert!(took < Duration::from_secs(100), "{name}: {took:?}");
    #[cfg(target_os = "linux")]
    assert!(peak() < 1 << 30, "{name}: {} MiB", peak() >> 20);
    drop(result);
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_pages_become_text_within_bounds_of_time_and_memory() {
    for part in [
        "<b>",
        "<b>x",
        "<a>",
        "<a href=x>y",
        "<font>",
        "<font color=red>x",
        "<b><i><u><s>x</b>",
        "<b><p>",
        "<p><b id=1>",
        "<table><tr><td>",
        "<table>",
        "<table><div>x</div>",
        "<table>x",
        "<tr><td>x",
        "<td>x",
        "<ul><li>",
        "<ul>",
        "<li>x",
        "<ol><li><ol><li>x",
        "<dl><dt>x<dd>",
        "<blockquote>",
        "<blockquote>x",
        "<div>",
        "<div>x</div>",
        "<span>x",
        "<p>x",
        "<h1>x",
        "<svg>",
        "<svg><g>",
        "<math><mi>x",
        "<template>",
        "<template>x</template>",
        "<select><option>x",
        "<button>x",
        "<form>x",
        "<pre>\n",
        "<pre>\t</pre>",
        "<br>",
        "<hr>",
        "<img src=x alt=y>",
        "<code>x</code>",
        "<sup>1</sup>",
        "<!--",
        "<!-- x -->",
        "<![CDATA[",
        "<?x",
        "</",
        "</p>",
        "<script>",
        "<style>x</style>",
        "<textarea>",
        "<title>x",
        "<frameset>",
        "<noscript><b>",
        "<nobr>x",
        "&amp;",
        "&notanentity",
        "&#",
        "&#x41;",
        "\u{301}",
        "\u{200b}",
        "x",
        "x ",
        "<",
        "<x",
        "<x y='",
        "\u{202e}",
    ] {
        ends_in_time(part, &full(part)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_and_attributes_that_multiply_become_text_within_bounds() {
    let mut attributes = "<p".to_owned();
    for number in 0..200_000 {
        _ = write!(attributes, " a{number}=1");
    }
    let distinct = (0..60_000).map(|number| format!("<b id={number}>")).collect::<Vec<_>>().concat();
    let spans = (1..40_000).map(|span| format!("<td colspan={span}>x")).collect::<Vec<_>>().concat();
    let below = "<td rowspan=65534 colspan=1000>x".repeat(20_000);
    for (name, html) in [
        ("attributes", attributes + ">text"),
        ("a long attribute", format!("<a href='{}'>x</a>", "y".repeat(SIZE - 100))),
        ("distinct formats", distinct.clone() + &"<p>".repeat(300_000)),
        ("distinct formats in cells", format!("<table>{}", distinct + &"<tr><td>x".repeat(100_000))),
        ("a span", "<table><tr><td colspan=1000000000 rowspan=1000000000>x<td>y".repeat(2)),
        ("spans", format!("<table><tr>{spans}{}", "<tr><td>x".repeat(100_000))),
        ("spans below", format!("<table><tr>{below}{}", "<tr><td>x".repeat(100_000))),
        ("a wide table", format!("<table><tr>{}", "<td>x".repeat(300_000))),
        ("a wide and long table", format!("<table><tr>{}{}", "<td>x".repeat(100_000), "<tr>".repeat(200_000))),
        ("tables in tables", "<table><tr><td>x<td>".repeat(80_000)),
        ("a start that is large", "<ol start=9223372036854775807><li>x<li>y</ol>".to_owned()),
        ("a start that is negative", "<ol start=-9223372036854775808><li>x<li>y</ol>".to_owned()),
        ("lists around lines", format!("{}{}", "<ul><li>".repeat(100), "x<br>".repeat(300_000))),
        ("lists around paragraphs", format!("{}{}", "<blockquote><ul><li>".repeat(100), "<p>x".repeat(300_000))),
    ] {
        ends_in_time(name, &html).await;
    }
}

/// Pages of short lines that are indented, and padded to the width of tables.
fn multiplied() -> [String; 3] {
    let indented = "<blockquote>".repeat(10) + &"<table><tr><td>".repeat(6);
    [("\n", "<pre>"), ("&#10;", "<pre>"), ("a\n", "<xmp>")]
        .map(|(line, tag)| format!("{indented}{tag}{}", line.repeat(SIZE / 6)))
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_that_are_indented_and_padded_become_a_bounded_text() {
    for html in multiplied() {
        let server = Server::with("text/html", html);
        let settings = local(&server).timeout(Duration::from_secs(100));
        let shown = super::page(settings, server.url("/"), 1, 1).await.unwrap();
        let shown = shown.value().as_str().unwrap().to_owned();
        let total = shown.split_once(" of ").and_then(|(_, rest)| rest.split(';').next()?.parse::<usize>().ok());
        assert!(total.is_some_and(|total| total < 20_000_000), "{shown}");
        #[cfg(target_os = "linux")]
        assert!(peak() < 1 << 30, "{} MiB", peak() >> 20);
    }
}

#[tokio::test]
async fn text_that_is_left_out_is_named() {
    let server = Server::with("text/html", format!("<pre>{}", "a\n".repeat(SIZE / 2 - 10)));
    let settings = local(&server).timeout(Duration::from_secs(100));
    let first = super::page(settings.clone(), server.url("/"), 1, 1).await.unwrap();
    let first = first.value().as_str().unwrap().to_owned();
    let total: u32 = first.split_once(" of ").unwrap().1.split(';').next().unwrap().parse().unwrap();
    let last = super::page(settings, server.url("/"), total - 100, 1000).await.unwrap();
    let last = last.value().as_str().unwrap().to_owned();
    assert!(last.ends_with("[the rest of the page is left out: it is too large as text]"), "{last}");
}

#[tokio::test]
async fn the_first_number_of_a_list_is_limited() {
    for (start, expected) in [
        ("9223372036854775807", "1000000000. a\n1000000001. b"),
        ("-9223372036854775808", "-1000000000. a"),
        ("99999999999999999999", "1. a\n2. b"),
        ("x", "1. a\n2. b"),
    ] {
        let server = Server::with("text/html", format!("<ol start={start}><li>a<li>b</ol>"));
        let shown = text(local(&server), server.url("/")).await;
        assert!(body(&shown).starts_with(expected), "{start}\n{shown}");
    }
}

#[tokio::test]
async fn what_is_beyond_a_limit_stays_as_text() {
    let html = format!("{}deep{}<p>after", "<div><ul><li><b>".repeat(500), "</b></li></ul></div>".repeat(500));
    let server = Server::with("text/html", html);
    let shown = text(local(&server), server.url("/")).await;
    assert!(shown.contains("deep") && shown.ends_with("after"), "{shown}");

    let many = format!("{}last", "<i>x</i> ".repeat(150_000));
    let server = Server::with("text/html", many);
    let shown = super::page(local(&server), server.url("/"), 200_000, 200_000).await.unwrap();
    let shown = shown.value().as_str().unwrap().to_owned();
    assert!(shown.ends_with("last"), "{}", &shown[shown.len().saturating_sub(100)..]);
}

#[tokio::test]
async fn ordinary_html_keeps_its_structure() {
    for (html, expected) in [
        ("<p>one<p>two", "one\n\ntwo"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", "* a\n* b\n  * c"),
        ("<ol start=3><li>a</li><li>b</li></ol>", "3. a\n4. b"),
        ("<table><tr><td>a<td>b<tr><td>c<td>d</table>", "a│b\n─┼─\nc│d"),
        ("<p>a <b>bold</b> <i>word", "a **bold** word"),
        ("<a href='/x'>one<a href='/y'>two</a>", "[one][1][two][2]\n\n[1]: /x\n[2]: /y"),
        ("<pre>a\n  b</pre>", "a\n  b"),
        ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
        ("<xmp><b>&amp;</b></xmp>", "<b>&amp;</b>"),
        ("a<script>if (a<b) '</p>'</script>b<style>p</style>c<!-- > -->d<!-->e", "abcde"),
        ("<h1>Title</h2>text", "# Title\n\ntext"),
        ("<section>one</section><section>two</section>", "one\ntwo"),
        ("<svg><title>A bee</title><path d='M0'/></svg>", "A bee"),
        ("1 < 2 <3", "1 < 2 <3"),
        ("<p title='a>b'>quoted</p>", "quoted"),
    ] {
        let server = Server::with("text/html", html);
        let shown = text(local(&server), server.url("/")).await;
        assert!(body(&shown).contains(expected), "{html}\n{shown}");
    }
}

#[test]
fn a_call_that_timed_out_leaves_no_thread_at_work() {
    let parts = ["<table><tr><td><p>x</p></td></tr></table>", "<b>x", "<!-- -", "<ul><li>x"];
    for html in parts.map(full).into_iter().chain(multiplied()) {
        let part = &html[..30];
        let server = Server::with("text/html", html.clone());
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let settings = local(&server).timeout(Duration::from_millis(200));
        drop(tokio.block_on(fetched(settings, server.url("/"))));
        let started = Instant::now();
        // Waits for the threads that work.
        drop(tokio);
        assert!(started.elapsed() < Duration::from_secs(15), "{part}: {:?}", started.elapsed());
    }
}
