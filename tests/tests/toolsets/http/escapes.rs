//! Attacks: addresses of this machine and of private networks in disguise, redirects, and answers without an end.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use llm_do::toolsets::http::Http;
use proptest::prelude::*;

use super::server::{Server, answer, ok, redirect};
use super::{fetched, local, text};

async fn refused(settings: Http, url: &str, reason: &str) {
    let error = fetched(settings, url).await.unwrap_err();
    assert!(error.contains(reason), "{url}: {error}");
}

const PRIVATE: &str = "a local or private address, which is refused";

#[tokio::test]
async fn an_address_that_is_not_public_is_refused_in_every_spelling() {
    for url in [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://127.0.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.0.0.1/",
        "http://0177.0.0.1/",
        "http://017700000001/",
        "http://0/",
        "http://0.0.0.0/",
        "http://127.0.0.1./",
        "http://%31%32%37.0.0.1/",
        "http://①②⑦.⓪.⓪.①/",
        "http://127。0。0。1/",
        "http:127.0.0.1/",
        "http:\\\\127.0.0.1\\",
        "http://\t127.0.0.1/",
        "http://127.0.0.1\n/",
        "http://127.0.0.1:80/",
        "https://127.0.0.1:443/",
        "http://10.0.0.1/",
        "http://100.64.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://0xa9fea9fe/",
        "http://2852039166/",
        "http://0251.0376.0251.0376/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://198.18.0.1/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://[::1]/",
        "http://[::]/",
        "http://[0:0:0:0:0:0:0:1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[::127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://[fe80::1]/",
        "http://[fc00::1]/",
        "http://[fd00:ec2::254]/",
        "http://localhost/",
        "http://LOCALHOST/",
        "http://localhost./",
        "http://ｌｏｃａｌｈｏｓｔ/",
    ] {
        refused(Http::new(), url, PRIVATE).await;
    }
}

#[tokio::test]
async fn a_url_that_is_not_plain_http_is_refused() {
    for (url, reason) in [
        ("file:///etc/passwd", "is not an `http` or `https` URL"),
        ("ftp://example.com/", "is not an `http` or `https` URL"),
        ("gopher://127.0.0.1:6379/_FLUSHALL", "is not an `http` or `https` URL"),
        ("data:text/plain,hi", "is not an `http` or `https` URL"),
        ("javascript:alert(1)", "is not an `http` or `https` URL"),
        ("unix:///var/run/docker.sock", "is not an `http` or `https` URL"),
        ("http://user:secret@example.com/", "contains a user name or password"),
        ("http://example.com@127.0.0.1/", "contains a user name or password"),
        ("http://example.com%00.evil.test/", "invalid URL"),
        ("http://[::1%25eth0]/", "invalid URL"),
        ("http://exa mple.com/", "invalid URL"),
        ("http:///", "invalid URL"),
        ("//example.com/", "invalid URL"),
        ("example.com", "invalid URL"),
        ("", "invalid URL"),
    ] {
        refused(Http::new(), url, reason).await;
    }
    let secret = fetched(Http::new(), "http://user:secret@example.com/").await.unwrap_err();
    assert!(!secret.contains("secret"), "{secret}");
    refused(Http::new(), &format!("http://example.com/{}", "a".repeat(4_000)), "longer than 4,000 characters").await;
}

#[tokio::test]
async fn a_name_with_a_private_address_is_refused_and_never_contacted() {
    let server = Server::with("text/plain", "secret");
    let address = SocketAddr::from(([127, 0, 0, 1], server.port()));
    for addresses in [vec![address], vec![address, "[::1]:80".parse().unwrap(), "10.0.0.1:80".parse().unwrap()]] {
        let settings = Http::new().resolve("evil.test", addresses).allow("*");
        refused(settings, "http://evil.test/", PRIVATE).await;
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_redirect_to_a_private_address_is_refused_even_to_an_allowed_host() {
    let victim = Server::with("text/plain", "secret");
    let address = SocketAddr::from(([127, 0, 0, 1], victim.port()));
    let port = victim.port();
    for to in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://0x7f.1:{port}/"),
        format!("//127.0.0.1:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://evil.test:{port}/"),
    ] {
        let server = Server::new(move |_| redirect(&to));
        let settings = local(&server).resolve("evil.test", [address]);
        let settings = settings.allow(format!("127.0.0.1:{port}")).allow(format!("evil.test:{port}"));
        let settings = settings.allow(format!("[::ffff:7f00:1]:{port}"));
        refused(settings, &server.url("/"), PRIVATE).await;
    }
    assert!(victim.requests().is_empty());
}

#[tokio::test]
async fn a_redirect_to_another_scheme_or_with_credentials_is_refused() {
    for (to, reason) in [
        ("file:///etc/passwd", "is not an `http` or `https` URL"),
        ("ftp://example.com/", "is not an `http` or `https` URL"),
        ("javascript:alert(1)", "is not an `http` or `https` URL"),
        ("http://user@example.com/", "contains a user name or password"),
        ("http://[", "redirects to an invalid address"),
    ] {
        let server = Server::new(move |_| redirect(to));
        refused(local(&server).allow("*"), &server.url("/"), reason).await;
    }
}

#[tokio::test]
async fn an_exception_for_one_port_is_not_one_for_another() {
    let (server, victim) = (Server::with("text/plain", "x"), Server::with("text/plain", "secret"));
    refused(local(&server), &victim.url("/"), PRIVATE).await;
    refused(local(&server).allow_private("localhost"), &victim.url("/"), PRIVATE).await;
    assert!(victim.requests().is_empty());
}

#[tokio::test]
async fn redirects_without_an_end_are_stopped() {
    let server = Server::new(|path| redirect(&format!("{path}x")));
    refused(local(&server).max_redirects(3), &server.url("/"), "stopped after 3 redirects").await;
    assert_eq!(server.requests().len(), 4);
    let looping = Server::new(|_| redirect("/"));
    refused(local(&looping), &looping.url("/"), "stopped after 5 redirects").await;
}

#[tokio::test]
async fn an_answer_without_an_end_is_cut() {
    let server = Server::streaming(|_, stream| {
        _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n");
        while stream.write_all(&[b'x'; 8_192]).is_ok() {}
    });
    let page = text(local(&server).max_size(100_000), server.url("/")).await;
    assert!(page.contains("cut: only the first 100000 bytes"), "{}", &page[..200]);
}

#[tokio::test]
async fn an_answer_that_trickles_is_stopped_in_time() {
    for part in ["HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n", ""] {
        let server = Server::streaming(move |_, stream| {
            _ = stream.write_all(part.as_bytes());
            while stream.write_all(b"x").and_then(|()| stream.flush()).is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let started = Instant::now();
        let settings = local(&server).timeout(Duration::from_millis(300));
        let error = fetched(settings, server.url("/")).await.unwrap_err();
        // Bytes that are not HTTP fail earlier.
        assert!(error.contains("within 300ms") || part.is_empty(), "{error}");
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}

#[tokio::test]
async fn headers_without_an_end_are_refused() {
    let server = Server::streaming(|_, stream| {
        _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        while stream.write_all(format!("x-{}: {}\r\n", "a".repeat(100), "b".repeat(900)).as_bytes()).is_ok() {}
    });
    refused(local(&server), &server.url("/"), "cannot fetch").await;
}

#[tokio::test]
async fn a_compressed_answer_is_refused_without_being_unpacked() {
    for encoding in ["gzip", "br", "deflate", "zstd", "gzip, gzip"] {
        let headers = [("content-type", "text/plain"), ("content-encoding", encoding)];
        let bomb = answer("200 OK", &headers, b"\x1f\x8b\x08");
        let server = Server::new(move |_| bomb.clone());
        refused(local(&server), &server.url("/"), &format!("answered with the encoding `{encoding}`")).await;
        assert!(server.requests()[0].contains("accept-encoding: identity\r\n"), "{:?}", server.requests());
    }
}

#[tokio::test]
async fn cookies_and_credentials_are_not_sent_on() {
    let server = Server::new(|path| match path {
        "/b" => ok("text/plain", b"x"),
        _ => answer("302 Found", &[("location", "/b"), ("set-cookie", "id=1"), ("www-authenticate", "Basic")], b""),
    });
    drop(fetched(local(&server), server.url("/a")).await.unwrap());
    let requests = server.requests().concat().to_lowercase();
    for header in ["cookie:", "authorization:", "referer:", "origin:"] {
        assert!(!requests.contains(header), "{requests}");
    }
    assert!(requests.contains("user-agent: llm-do-tests/0.1.0 llm-do/"), "{requests}");
}

#[tokio::test]
async fn line_breaks_in_a_url_do_not_add_headers() {
    let server = Server::with("text/plain", "x");
    drop(fetched(local(&server), server.url("/a\r\nx-evil: 1\r\n?b=%0d%0ax-evil:%202")).await.unwrap());
    let request = &server.requests()[0];
    assert!(!request.to_lowercase().contains("\r\nx-evil"), "{request}");
}

#[tokio::test]
async fn html_that_is_nested_deep_or_full_of_tables_ends_in_time() {
    for html in [
        "<div>".repeat(100_000),
        format!("{}x", "<table><tr><td>".repeat(200)),
        "<b><i>".repeat(20_000),
        "<ul><li>".repeat(500),
        "<!--".repeat(100_000),
        "&amp;".repeat(100_000),
    ] {
        let server = Server::with("text/html", html.clone());
        let started = Instant::now();
        // An answer or an error, but no crash.
        drop(fetched(local(&server).timeout(Duration::from_secs(1)), server.url("/")).await);
        assert!(started.elapsed() < Duration::from_secs(20), "{}", &html[..20]);
    }
}

/// The spellings of one byte of an address, or of all of it.
fn spelled(number: u32, style: u8) -> String {
    match style % 3 {
        0 => number.to_string(),
        1 => format!("0x{number:x}"),
        _ => format!("0{number:o}"),
    }
}

fn private() -> impl Strategy<Value = Ipv4Addr> {
    let block = prop::sample::select(vec![
        (Ipv4Addr::new(10, 0, 0, 0), 8),
        (Ipv4Addr::new(100, 64, 0, 0), 10),
        (Ipv4Addr::new(127, 0, 0, 0), 8),
        (Ipv4Addr::new(169, 254, 0, 0), 16),
        (Ipv4Addr::new(172, 16, 0, 0), 12),
        (Ipv4Addr::new(192, 168, 0, 0), 16),
        (Ipv4Addr::new(224, 0, 0, 0), 4),
    ]);
    (block, any::<u32>()).prop_map(|((block, bits), any)| (block.to_bits() | (any & (u32::MAX >> bits))).into())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_spelling_of_a_private_address_is_refused(address in private(), style in any::<[u8; 4]>(), form in 0..6_u8) {
        let [a, b, c, d] = address.octets().map(u32::from);
        let host = match form {
            0 => [a, b, c, d].iter().zip(style).map(|(byte, style)| spelled(*byte, style)).collect::<Vec<_>>().join("."),
            1 => spelled(address.to_bits(), style[0]),
            2 => format!("{}.{}", spelled(a, style[0]), spelled(address.to_bits() & 0xff_ffff, style[1])),
            3 => format!("{}.{}.{}", spelled(a, style[0]), spelled(b, style[1]), spelled((c << 8) | d, style[2])),
            4 => format!("[::ffff:{address}]"),
            _ => format!("[64:ff9b::{address}]"),
        };
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = tokio.block_on(fetched(Http::new(), format!("http://{host}/"))).unwrap_err();
        prop_assert!(error.contains(PRIVATE), "{}: {}", host, error);
    }
}
