//! Pages of a raw server: it sends what a test wants, byte by byte.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use retake_core::{CallTarget, EffectClass, ToolOutcome};
use retake_testkit::again;
use retake_tools::{FetchConfig, Output, fetch_tool};
use serde_json::json;

use crate::stage::{Stage, supervisor};

/// A server that answers each connection by its path, until the test ends.
fn serve(answer: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let mut lines = BufReader::new(stream.try_clone().expect("a second handle")).lines();
            let first = lines.next().and_then(Result::ok).unwrap_or_default();
            let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
            for line in lines.map_while(Result::ok) {
                if line.is_empty() {
                    break;
                }
            }
            answer(&path, &mut stream);
        }
    });
    format!("http://{address}")
}

/// Sends something; the reader may have disconnected.
fn say(stream: &mut TcpStream, head: &str, body: &[u8]) {
    let _ =
        write!(stream, "HTTP/1.1 {head}\r\nconnection: close\r\n\r\n").and_then(|()| stream.write_all(body));
}

fn config() -> FetchConfig {
    FetchConfig { private: true, supervisor: Some(supervisor()), ..FetchConfig::default() }
}

async fn fetch(stage: &Stage, config: FetchConfig, url: &str) -> Output {
    stage.call(&fetch_tool(config), json!({ "url": url })).await
}

#[tokio::test]
async fn a_page_is_read_as_text() {
    let base = serve(|path, stream| match path {
        "/html" => {
            say(stream, "200 OK\r\ncontent-type: text/html", b"<h1>Head</h1><p>A <a href='/b'>link</a>.");
        }
        "/json" => say(stream, "200 OK\r\ncontent-type: application/json", b"{\"a\":1}"),
        "/latin" => say(stream, "200 OK\r\ncontent-type: text/plain; charset=latin1", b"gr\xfcn \x1b[31m"),
        "/none" => say(stream, "200 OK", b"plain"),
        _ => say(stream, "404 Not Found\r\ncontent-type: text/plain", b"no such page"),
    });
    let stage = Stage::new();
    use ToolOutcome::{Failed, Ok};
    for (path, content, outcome) in [
        ("/html", "200 OK · text/html]\n# Head\n\nA [link][1].\n\n[1]: /b\n", Ok),
        ("/json", "200 OK · application/json]\n{\"a\":1}", Ok),
        ("/latin", "200 OK · text/plain; charset=latin1]\ngrün ", Ok),
        ("/none", "200 OK · of an unnamed type]\nplain", Ok),
        ("/lost", "404 Not Found · text/plain]\nno such page", Failed),
    ] {
        let output = fetch(&stage, config(), &format!("{base}{path}")).await;
        assert_eq!(output.content, format!("[{base}{path} · {content}"));
        assert_eq!(output.outcome, outcome);
    }
}

#[tokio::test]
async fn content_that_is_no_text_is_refused() {
    let base = serve(|path, stream| match path {
        "/png" => say(stream, "200 OK\r\ncontent-type: image/png", b"\x89PNG"),
        "/lie" => say(stream, "200 OK\r\ncontent-type: text/plain", b"\0\x01\x02\x03"),
        _ => say(stream, "200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: gzip", b"\x1f\x8b"),
    });
    let stage = Stage::new();
    for (path, why) in
        [("/png", "it is image/png, not text"), ("/lie", "is not text"), ("/zip", "compressed as gzip")]
    {
        let output = fetch(&stage, config(), &format!("{base}{path}")).await;
        assert!(output.outcome == ToolOutcome::Failed && output.content.contains(why), "{output:?}");
    }
}

/// A table has a cell in each row for each column of its longest row, written or not.
#[tokio::test]
async fn a_page_that_is_too_expensive_to_convert_is_shown_as_it_is_without_delay() {
    let table = format!("<table>{}<tr>{}</table>", "<tr>".repeat(100_000), "<td>".repeat(2_000));
    let deep = format!("{}deep{}", "<div>".repeat(100_000), "</div>".repeat(100_000));
    let pages = [table.clone(), deep.clone(), "<div>shallow</div>".repeat(200)];
    let base = serve(move |path, stream| {
        let page = &pages[path[1..].parse::<usize>().expect("a number")];
        say(stream, "200 OK\r\ncontent-type: text/html", page.as_bytes());
    });
    let stage = Stage::new();
    for (at, (begins, most)) in
        [("<table><tr>", 1 << 20), ("<div><div>", 1 << 20), ("shallow\n", 1 << 10)].into_iter().enumerate()
    {
        let output = fetch(&stage, config(), &format!("{base}/{at}")).await;
        let (_, text) = output.content.split_once('\n').expect("a first line");
        assert!(text.starts_with(begins) && text.len() <= most * 2, "{at}: {}", &text[..40]);
        assert_eq!(output.outcome, ToolOutcome::Ok);
    }
    let status = std::fs::read_to_string("/proc/self/status").expect("it is there");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line");
    let peak: u64 = peak.trim_end_matches("kB").trim().parse().expect("a number");
    assert!(peak < 700 << 10, "{peak} KiB");
}

#[tokio::test]
async fn a_huge_page_is_truncated() {
    let base = serve(|path, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n");
        let line = b"0123456789abcde\n".repeat(4096);
        let mut left = if path == "/long" { 4 } else { usize::MAX };
        while left > 0 && stream.write_all(&line).is_ok() {
            left -= 1;
        }
    });
    let stage = Stage::new();
    let endless = fetch(&stage, config(), &format!("{base}/endless")).await;
    assert_eq!(endless.outcome, ToolOutcome::Ok);
    assert!(
        endless.content.len() < 32 << 10
            && endless.content.contains("[only its first 5242880 bytes were read]")
    );
    let long = fetch(&stage, config(), &format!("{base}/long")).await;
    let log = long.content.split("the whole is in ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    assert_eq!(std::fs::metadata(log).unwrap().len(), 4 << 16);
}

#[tokio::test]
async fn slow_and_broken_servers_are_reported() {
    let base = serve(|path, stream| {
        let _ = stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nbegun");
        if path == "/slow" {
            // Until the other side disconnects.
            let _ = std::io::Read::read(stream, &mut [0; 1]);
        }
    });
    let stage = Stage::new();
    let cut = fetch(&stage, config(), &format!("{base}/cut")).await;
    assert!(cut.outcome == ToolOutcome::Failed, "{cut:?}");
    assert!(cut.content.contains("\nbegun\n[the answer broke off after 5 bytes"), "{cut:?}");
    let hasty = FetchConfig { limit: Duration::from_secs(1), ..config() };
    let slow = fetch(&stage, hasty, &format!("{base}/slow")).await;
    assert_eq!(slow.content, format!("can't fetch {base}/slow: it takes longer than 1 s"));
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = fetch(&stage, config(), &format!("http://{gone}/")).await;
    assert!(refused.content.starts_with(&format!("can't fetch http://{gone}/: ")), "{refused:?}");
    stage.stop();
    assert_eq!(fetch(&stage, config(), &base).await.content, "[stopped by the test]");
}

#[tokio::test]
async fn only_redirects_within_the_same_host_are_followed() {
    let base = serve(|path, stream| match path {
        "/here" => say(stream, "302 Found\r\nlocation: /there", b""),
        "/there" => say(stream, "200 OK\r\ncontent-type: text/plain", b"arrived"),
        "/round" => say(stream, "301 Moved Permanently\r\nlocation: /round", b""),
        "/file" => say(stream, "302 Found\r\nlocation: file:///etc/passwd", b""),
        _ => say(stream, "302 Found\r\nlocation: http://other.example/x", b""),
    });
    let stage = Stage::new();
    let arrived = fetch(&stage, config(), &format!("{base}/here")).await;
    assert_eq!(arrived.content, format!("[{base}/there · 200 OK · text/plain]\narrived"));
    for (path, why) in [
        ("/away", "redirects to another server: http://other.example/x; fetch that address if you need it"),
        ("/file", "redirects to another server: file:///etc/passwd"),
        ("/round", "redirects more than"),
    ] {
        let output = fetch(&stage, config(), &format!("{base}{path}")).await;
        assert!(output.outcome == ToolOutcome::Failed && output.content.contains(why), "{output:?}");
    }
}

#[tokio::test]
async fn this_machine_and_its_private_network_are_refused() {
    let base = serve(|_, stream| say(stream, "200 OK\r\ncontent-type: text/plain", b"secret"));
    let port = base.rsplit(':').next().unwrap();
    let stage = Stage::new();
    for host in ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "0"] {
        let output = fetch(&stage, FetchConfig::default(), &format!("http://{host}:{port}/")).await;
        assert!(
            output.outcome == ToolOutcome::Failed && !output.content.contains("secret"),
            "{host}: {output:?}"
        );
        assert!(output.content.contains("which may not be fetched"), "{host}: {output:?}");
    }
}

/// The proxy connects by itself, so only the name can be checked.
#[tokio::test]
async fn a_proxy_is_not_used_to_reach_this_machine_or_its_private_network() {
    const PROXY: &str = "http_proxy";
    if std::env::var_os(PROXY).is_none() {
        let proxy = serve(|_, stream| say(stream, "200 OK\r\ncontent-type: text/plain", b"by the proxy"));
        let mut command = std::process::Command::new(again::this_program());
        command.env(PROXY, proxy).env_remove("no_proxy").env_remove("NO_PROXY");
        return again::again(
            command,
            "fetch::a_proxy_is_not_used_to_reach_this_machine_or_its_private_network",
        );
    }
    let stage = Stage::new();
    for host in ["localhost", "localhost.", "a.localhost", "router", "metadata.google.internal", "127.0.0.1"]
    {
        let output = fetch(&stage, FetchConfig::default(), &format!("http://{host}/")).await;
        assert!(output.content.contains("which may not be fetched"), "{host}: {output:?}");
    }
    let output = fetch(&stage, FetchConfig::default(), "http://unknown.example.invalid/").await;
    assert!(output.content.contains("by the proxy"), "it finds names that this machine does not: {output:?}");
}

#[tokio::test]
async fn an_invalid_address_is_refused_before_the_call() {
    let stage = Stage::new();
    let tool = fetch_tool(FetchConfig::default());
    for url in ["", "no address", "file:///etc/passwd", "ftp://a.example/", "http://user:word@a.example/"] {
        assert!(tool.intent(&json!({ "url": url }), stage.root(), &stage.roots).is_err(), "{url}");
        assert_eq!(fetch(&stage, FetchConfig::default(), url).await.outcome, ToolOutcome::Failed);
    }
    let intent = tool.intent(&json!({ "url": "https://a.example/x" }), stage.root(), &stage.roots).unwrap();
    assert_eq!((intent.class, intent.line.as_str()), (EffectClass::External, "fetch https://a.example/x"));
    assert_eq!(intent.touches, [CallTarget::Url("https://a.example/x".into())]);
}
