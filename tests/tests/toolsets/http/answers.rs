//! What a model gets of an answer.

use llm_do::toolsets::http::Http;

use super::server::{Server, answer};
use super::{body, fetched, local, page, text};

#[tokio::test]
async fn html_is_text_with_the_targets_of_its_links() {
    let html = "<html><head><title>Bees</title><style>p{color:red}</style></head><body><script>alert(1)</script>\
                <h1>Bees</h1><p>They <a href='/fly?a=1&amp;b=2'>fly</a> &amp; hum.</p><ul><li>one</li><li>two</li></ul></body>";
    let server = Server::with("text/html; charset=utf-8", html);
    let page = text(local(&server), server.url("/bees")).await;
    let head = format!("status: 200 OK\nurl: {}\ntype: text/html\n\n", server.url("/bees"));
    assert_eq!(page, format!("{head}# Bees\n\nThey [fly][1] & hum.\n* one\n* two\n\n[1]: /fly?a=1&b=2"));
}

#[tokio::test]
async fn other_text_is_returned_as_it_is() {
    for content_type in
        ["application/json", "text/plain", "application/vnd.api+json", "application/xml", "TEXT/Markdown"]
    {
        let server = Server::with(content_type, "{\"a\":  1}\n<b>");
        assert_eq!(body(&text(local(&server), server.url("/")).await), "{\"a\":  1}\n<b>", "{content_type}");
    }
}

#[tokio::test]
async fn the_charset_is_that_of_the_mark_the_header_the_html_or_utf_8() {
    let cases: [(&str, &[u8]); 6] = [
        ("text/plain; charset=iso-8859-1", b"caf\xe9"),
        ("text/plain; charset=\"windows-1252\"", b"caf\xe9"),
        ("text/plain", "café".as_bytes()),
        ("text/plain; charset=iso-8859-1", b"\xef\xbb\xbfcaf\xc3\xa9"),
        ("text/html", b"<meta charset='iso-8859-1'><p>caf\xe9"),
        (
            "text/html; charset=utf-8",
            b"<meta http-equiv=content-type content='text/html; charset=iso-8859-1'>caf\xc3\xa9",
        ),
    ];
    for (content_type, bytes) in cases {
        let server = Server::with(content_type, bytes);
        assert_eq!(body(&text(local(&server), server.url("/")).await).trim(), "café", "{content_type}");
    }
}

#[tokio::test]
async fn invalid_bytes_become_replacement_characters() {
    let server = Server::with("text/plain", b"a\xff\0b".to_vec());
    assert_eq!(body(&text(local(&server), server.url("/")).await), "a\u{fffd}\u{fffd}b");
}

#[tokio::test]
async fn an_image_is_a_file_for_the_model() {
    let server = Server::with("image/png", b"\x89PNG rest".to_vec());
    let returned = fetched(local(&server), server.url("/a/bee.png?size=1")).await.unwrap();
    let [file] = returned.attachments() else { panic!("{returned:?}") };
    assert_eq!((file.name(), file.media_type(), file.data()), (Some("bee.png"), "image/png", &b"\x89PNG rest"[..]));
}

#[tokio::test]
async fn a_type_that_is_neither_text_nor_a_known_file_is_refused() {
    for content_type in ["application/zip", "application/octet-stream", "video/mp4", "image/svg", "font/woff2"] {
        let server = Server::with(content_type, "x");
        let error = fetched(local(&server), server.url("/a")).await.unwrap_err();
        let expected =
            format!("`{}` is of type `{content_type}`, which is neither text, an image nor a PDF", server.url("/a"));
        assert!(error.ends_with(&expected), "{error}");
    }
}

#[tokio::test]
async fn an_answer_without_a_type_is_text_if_it_looks_like_text() {
    let server = Server::with("", "plain é");
    assert_eq!(body(&text(local(&server), server.url("/")).await), "plain é");
    let server = Server::with("", b"\0\x01binary".to_vec());
    assert!(fetched(local(&server), server.url("/")).await.is_err());
}

#[tokio::test]
async fn an_error_page_is_an_answer_with_its_status() {
    let server = Server::new(|_| answer("404 Not Found", &[("content-type", "text/plain")], b"no such page"));
    let page = text(local(&server), server.url("/x")).await;
    assert!(page.starts_with("status: 404 Not Found\n") && page.ends_with("\n\nno such page"), "{page}");
}

#[tokio::test]
async fn a_long_text_comes_in_parts_that_make_up_the_whole() {
    let long: String = (10..40).fold(String::new(), |text, number| format!("{text}{number}é "));
    let server = Server::with("text/plain", long.trim_end());
    let mut read = String::new();
    let mut offset = 1;
    loop {
        let returned = page(local(&server), server.url("/"), offset, 50).await.unwrap();
        let part = returned.value().as_str().unwrap();
        read.push_str(body(part));
        let Some((_, next)) = part.split_once("call again with offset ") else { break };
        offset = next.split_once('\n').unwrap().0.parse().unwrap();
    }
    assert_eq!(read, long.trim_end());
    let error = page(local(&server), server.url("/"), 1_000, 50).await.unwrap_err();
    assert!(error.ends_with("`offset` 1000 is past the end: the text has 119 characters"), "{error}");
}

#[tokio::test]
async fn of_a_large_answer_the_start_is_returned_and_the_cut_is_named() {
    let server = Server::with("text/plain", "x".repeat(10_000));
    let page = text(local(&server).max_size(1_000), server.url("/")).await;
    assert!(page.contains("\ncut: only the first 1000 bytes of the answer were read\n"), "{page}");
    assert_eq!(body(&page).len(), 1_000);
    let server = Server::with("image/png", "x".repeat(10_000));
    let error = fetched(local(&server).max_size(1_000), server.url("/")).await.unwrap_err();
    assert!(error.contains("too large for a file"), "{error}");
}

#[tokio::test]
async fn a_host_that_is_unknown_or_down_is_named() {
    let error = fetched(Http::new(), "http://nowhere.invalid/").await.unwrap_err();
    assert!(error.contains("cannot find the host `nowhere.invalid`"), "{error}");
    let server = Server::with("text/plain", "x");
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let settings = local(&server).allow_private(unused.to_string());
    let error = fetched(settings, format!("http://{unused}/")).await.unwrap_err();
    assert!(error.contains(&format!("cannot fetch `http://{unused}/`")) && error.contains("refused"), "{error}");
}
