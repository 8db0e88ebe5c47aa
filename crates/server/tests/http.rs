//! HTTP only: access, the form of errors, malformed requests.

use std::os::unix::fs::PermissionsExt as _;

use futures::StreamExt;
use reqwest::Method;
use retake_wire::http::{PROBLEM, REQUEST_ID};
use serde_json::{Value, json};

use super::world::{Desk, shows};

/// Sends requests to the owner over TCP.
pub(super) struct Asking<'a> {
    desk: &'a Desk,
    http: reqwest::Client,
    token: String,
}

impl<'a> Asking<'a> {
    pub(super) fn new(desk: &'a Desk) -> Self {
        let token = std::fs::read_to_string(desk.file("data/token")).expect("a token");
        retake_tools::tls::prepare();
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        Self { desk, http, token: token.trim().to_owned() }
    }

    pub(super) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let address = self.desk.served.address.expect("it listens");
        self.http.request(method, format!("http://{address}{path}")).bearer_auth(&self.token)
    }

    async fn get(&self, path: &str) -> Value {
        let response = self.request(Method::GET, path).send().await.expect("an answer");
        assert_eq!(response.status(), 200, "{path}");
        response.json().await.expect("JSON")
    }

    async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let response = self.request(Method::POST, path).json(body).send().await.expect("an answer");
        (response.status().as_u16(), response.json().await.expect("JSON"))
    }

    /// The error of a refused request.
    pub(super) async fn refused(&self, request: reqwest::RequestBuilder) -> String {
        let response = request.send().await.expect("an answer");
        let (status, kind) = (response.status(), response.headers()["content-type"].clone());
        let body: Value = response.json().await.expect("JSON");
        assert_eq!(kind, PROBLEM, "{body}");
        assert_eq!(body["status"], status.as_u16(), "{body}");
        assert_eq!(body["type"], format!("urn:retake:problem:{}", body["code"].as_str().expect("a code")));
        format!("{} {}: {}\n  hint: {}\n", status.as_u16(), body["code"], body["detail"], body["hint"])
    }
}

#[tokio::test]
async fn plain_http_client_can_rewind_and_undo() {
    let desk = Desk::new().await;
    let asking = Asking::new(&desk);
    let (status, made) = asking.post("/v1/conversations", &json!({ "title": "by hand" })).await;
    assert_eq!(status, 200, "{made}");
    let at = format!("/v1/conversations/{}", made["conversation"].as_str().expect("an id"));
    let say = |text: &str, role: &str| json!({ "role": role, "parts": [{ "type": "text", "text": text }] });
    let mut entries = Vec::new();
    for (text, role) in [("one", "user"), ("two", "assistant"), ("three", "user")] {
        let (status, said) = asking.post(&format!("{at}/entries"), &say(text, role)).await;
        assert_eq!(status, 200, "{said}");
        entries.push(said["entries"][0].clone());
    }
    let back = json!({ "action": "rewind", "entry": entries[2] });
    let (_, plan) = asking.post(&format!("{at}/plans"), &back).await;
    assert_eq!((&plan["reply"], &plan["taken_back"]["messages"]), (&json!("plan"), &json!(1)));
    let mut apply = back;
    apply["head"] = plan["head"].clone();
    let (status, receipt) = asking.post(&format!("{at}/operations"), &apply).await;
    assert_eq!((status, &receipt["composer"]["text"]), (200, &json!("three")), "{receipt}");
    let (status, stale) = asking.post(&format!("{at}/operations"), &apply).await;
    assert_eq!((status, &stale["code"], &stale["head"]), (412, &json!("stale_head"), &receipt["head"]));
    assert_eq!(
        asking.get(&format!("{at}/entries?limit=9")).await["entries"].as_array().map(Vec::len),
        Some(2)
    );
    asking.post(&format!("{at}/operations"), &json!({ "action": "undo", "count": 1 })).await;
    assert_eq!(asking.get(&format!("{at}/entries")).await["entries"].as_array().map(Vec::len), Some(3));
    let restore = json!({ "action": "restore", "to": receipt["head"] });
    let (status, restored) = asking.post(&format!("{at}/plans"), &restore).await;
    assert_eq!((status, &restored["taken_back"]["messages"]), (200, &json!(1)), "{restored}");
}

#[tokio::test]
async fn the_same_key_is_done_once_and_another_request_with_it_is_refused() {
    let desk = Desk::new().await;
    let asking = Asking::new(&desk);
    let say = async |text: &str, at: &str| {
        let body = json!({ "role": "user", "parts": [{ "type": "text", "text": text }] });
        let request = asking.request(Method::POST, at).header(REQUEST_ID, "once").json(&body);
        let response = request.send().await.expect("an answer");
        (response.status().as_u16(), response.json::<Value>().await.expect("JSON"))
    };
    let at = format!("/v1/conversations/{}/entries", desk.create(None, None).await);
    let first = say("hello", &at).await;
    assert_eq!((first.0, say("hello", &at).await), (200, first.clone()));
    let (status, other) = say("something else", &at).await;
    assert_eq!((status, &other["code"]), (409, &json!("request_reused")), "{other}");
    assert_eq!(asking.get(&at).await["entries"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn request_that_cannot_be_read_names_the_parameter_in_its_fields() {
    let desk = Desk::new().await;
    let asking = Asking::new(&desk);
    let at = format!("/v1/conversations/{}/operations", desk.create(None, None).await);
    let rows = [
        (
            json!({ "action": "undo", "count": "two" }),
            json!({ "what": "unfit", "parameter": "count", "expected_types": ["integer"], "least": 1, "most": 9_007_199_254_740_991_u64,
                    "given_type": "string", "given": "two" }),
        ),
        (
            json!({ "action": "rewind" }),
            json!({ "what": "missing", "parameter": "entry", "expected_types": ["string"] }),
        ),
        (json!({ "action": "undo", "count": 1, "x": 1 }), json!({ "what": "unknown", "parameter": "x" })),
        (json!([]), json!({ "what": "unfit", "expected_types": ["object"], "given_type": "array" })),
        (
            json!({ "action": "rewind", "entry": "t1", "files": { "scope": "all" } }),
            json!({ "what": "unfit", "parameter": "files.scope", "expected": ["both", "conversation", "files"],
                    "given_type": "string", "given": "all" }),
        ),
        (
            json!({ "action": "rewind", "entry": {} }),
            json!({ "what": "unfit", "parameter": "entry", "expected_types": ["string"], "given_type": "object" }),
        ),
    ];
    for (body, fields) in rows {
        let (status, problem) = asking.post(&at, &body).await;
        assert_eq!((status, &problem["fields"]), (400, &fields), "{problem}");
    }
    let problem = asking.request(Method::GET, "/v1/conversations?limit=0").send().await.expect("an answer");
    let fields = &problem.json::<Value>().await.expect("JSON")["fields"];
    assert_eq!((&fields["parameter"], &fields["given"]), (&json!("limit"), &json!("0")));
    assert_eq!((&fields["least"], &fields["most"]), (&json!(1), &json!(1000)), "{fields}");
}

#[tokio::test]
async fn choice_for_a_path_that_leaves_the_folder_says_what_is_wrong_in_its_fields() {
    let desk = Desk::new().await;
    let asking = Asking::new(&desk);
    let at = format!("/v1/conversations/{}/operations", desk.create(None, None).await);
    let choose = json!([{ "path": "../a", "choice": "disk" }]);
    let body = json!({ "action": "rewind", "entry": "t1", "files": { "choose": choose } });
    let (status, problem) = asking.post(&at, &body).await;
    let fields = json!({ "path": "../a", "what": "leaves_root" });
    assert_eq!((status, &problem["fields"]), (422, &fields), "{problem}");
    assert_eq!(problem["hint"], "name files below the folder", "{problem}");
}

#[tokio::test]
async fn misspelt_file_options_and_permissions_are_refused() {
    let desk = Desk::new().await;
    let asking = Asking::new(&desk);
    let at = format!("/v1/conversations/{}/operations", desk.create(None, None).await);
    let action = json!({ "action": "rewind", "entry": "t1", "files": { "scop": "conversation" } });
    let run = json!({ "start": "answer", "conversation": "x", "permit": { "mod": "plan" } });
    for (path, body) in [(at.as_str(), action), ("/v1/runs", run)] {
        let refused = asking.refused(asking.request(Method::POST, path).json(&body)).await;
        assert!(refused.starts_with("400 \"bad_request\""), "{refused}");
    }
}

#[tokio::test]
async fn invalid_request_gets_a_problem_document() {
    let desk = Desk::new().await;
    let asking = Asking::new(&desk);
    let (get, post) = (|path| asking.request(Method::GET, path), |path| asking.request(Method::POST, path));
    let at = format!("/v1/conversations/{}", desk.create(None, None).await);
    let rows = [
        ("nowhere", get("/v1/nothing")),
        ("another method", asking.request(Method::PATCH, "/v1/conversations")),
        ("a misspelt field", post("/v1/conversations").json(&json!({ "titel": "x" }))),
        ("a misspelt parameter", get("/v1/conversations?limits=3")),
        ("no number", get("/v1/conversations?limit=three")),
        ("nothing for a number", get("/v1/conversations?limit=null")),
        ("a number too large", get("/v1/conversations?limit=9007199254740992")),
        ("a number too small", get("/v1/conversations?limit=-1")),
        ("a part of a number", get(&format!("{at}/operations?before=1.5"))),
        ("neither true nor false", get("/v1/conversations?archived=maybe")),
        ("a word of another list", get(&format!("{at}/entries?as=everything"))),
        ("nothing to search for", get("/v1/search")),
        ("a number for a text in the body", post(&format!("{at}/forks")).json(&json!({ "at": 3 }))),
        (
            "a step that is no number",
            post(&format!("{at}/plans")).json(&json!({ "action": "undo", "count": "two" })),
        ),
        (
            "a step below nothing",
            post(&format!("{at}/plans")).json(&json!({ "action": "undo", "count": -1 })),
        ),
        (
            "a part without its text",
            post(&format!("{at}/entries")).json(&json!({ "role": "user", "parts": [{ "type": "text" }] })),
        ),
        (
            "a part of another kind",
            post(&format!("{at}/entries")).json(&json!({ "role": "user", "parts": [{ "type": "song" }] })),
        ),
        (
            "a part of a draft by its number",
            asking
                .request(Method::PUT, "/v1/draft")
                .json(&json!({ "folder": "/", "parts": [], "instead_of": [{ "type": 0, "text": "" }] })),
        ),
        (
            "a part of what is aside by its number",
            asking
                .request(Method::PUT, "/v1/draft")
                .json(&json!({ "folder": "/", "parts": [], "aside": [[{ "type": 0, "text": "" }]] })),
        ),
        ("no list", post(&format!("{at}/entries")).json(&json!({ "role": "user", "parts": "hello" }))),
        ("a stranger's role", post(&format!("{at}/entries")).json(&json!({ "role": "king", "parts": [] }))),
        ("events with what they don't take", get(&format!("{at}/events?from=3"))),
        ("a whole export in another form", get(&format!("{at}/export/stream?format=pdf"))),
        ("a job by a word", get(&format!("{at}/jobs/first"))),
        ("said twice", get("/v1/conversations?limit=3&limit=4")),
        ("no object", post("/v1/conversations").json(&json!([1]))),
        ("no JSON", post("/v1/conversations").header("content-type", "application/json").body("{")),
        ("not said to be JSON", post("/v1/conversations").body("{}")),
        ("a wrong type", post("/v1/conversations").json(&json!({ "title": 3 }))),
        ("an unknown action", post(&format!("{at}/operations")).json(&json!({ "action": "forget" }))),
        ("a missing field", post(&format!("{at}/operations")).json(&json!({ "action": "rewind" }))),
        ("a number for a word", post(&format!("{at}/operations")).json(&json!({ "action": 1, "count": 1 }))),
        (
            "a field of another action",
            post(&format!("{at}/plans")).json(&json!({ "action": "undo", "count": 1, "entry": "t1" })),
        ),
        (
            "a part by its number",
            post(&format!("{at}/entries"))
                .json(&json!({ "role": "user", "parts": [{ "type": 0, "text": "x" }] })),
        ),
        ("no run", post("/v1/runs").json(&json!({ "conversation": "x" }))),
        ("a run nowhere", post("/v1/runs").json(&json!({ "conversation": "nonsense", "start": "answer" }))),
    ];
    let mut told = String::new();
    for (what, request) in rows {
        told.push_str(&format!("{what}\n{}", asking.refused(request).await));
    }
    shows!(told);
}

#[tokio::test]
async fn tcp_client_without_the_token_is_refused() {
    let desk = Desk::new().await;
    let mut asking = Asking::new(&desk);
    let mode = std::fs::metadata(desk.file("data/token")).expect("a token").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mode = std::fs::metadata(desk.file("data/owner.sock")).expect("a socket").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    asking.get("/v1/conversations").await;
    for wrong in ["", "wrong", &asking.token.clone()[1..]] {
        asking.token = wrong.to_owned();
        for path in ["/v1/conversations", "/openapi.json", "/v1/nothing"] {
            let told = asking.refused(asking.request(Method::GET, path)).await;
            assert!(told.starts_with("401 \"unauthorized\""), "{told}");
        }
    }
}

#[tokio::test]
async fn run_is_a_stream_whose_last_event_is_its_end() {
    let desk = Desk::fast().await;
    let asking = Asking::new(&desk);
    let say = json!({ "start": "say", "parts": [{ "type": "text", "text": "hello" }] });
    let response = asking.request(Method::POST, "/v1/runs").json(&say).send().await.expect("an answer");
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let pieces: Vec<_> = response.bytes_stream().collect().await;
    let text: Vec<u8> = pieces.into_iter().flat_map(|piece| piece.expect("a piece").to_vec()).collect();
    let text = String::from_utf8(text).expect("text");
    let events: Vec<Value> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|json| serde_json::from_str(json).expect("JSON"))
        .collect();
    assert_eq!(events.first().map(|event| &event["event"]), Some(&json!("started")));
    let last = events.last().expect("an end");
    assert_eq!((&last["event"], &last["outcome"]), (&json!("ended"), &json!("succeeded")));
    assert_eq!(events.iter().filter(|event| event["event"] == "ended").count(), 1);
}

#[tokio::test]
async fn request_that_matches_the_document_is_parsed_and_may_be_refused() {
    let desk = Desk::new().await;
    let asking = Asking::new(&desk);
    let (_, made) = asking.post("/v1/conversations", &json!({})).await;
    let plans = format!("/v1/conversations/{}/plans", made["conversation"].as_str().expect("an id"));
    // 1.0 is an integer in JSON Schema; there is nothing to undo yet.
    let (status, told) = asking.post(&plans, &json!({ "action": "undo", "count": 1.0 })).await;
    assert_eq!((status, &told["code"]), (409, &json!("nothing_to_undo")), "{told}");
    for (status, body) in [
        (400, json!({ "action": "undo", "count": 1.5 })),
        (400, json!({ "action": "nothing" })),
        (400, json!({ "action": "undo", "count": 0 })),
        (422, json!({ "action": "erase" })),
        (404, json!({ "action": "rewind", "entry": "nobody" })),
    ] {
        let (found, told) = asking.post(&plans, &body).await;
        assert_eq!(found, status, "{body}: {told}");
    }
    for folder in ["", "work", "./work", "/a\0b"] {
        for path in ["/v1/conversations", "/v1/imports"] {
            let (status, told) = asking.post(path, &json!({ "folder": folder })).await;
            assert_eq!(status, 422, "{path} in {folder:?}: {told}");
        }
    }
    let (status, told) = asking.post("/v1/imports", &json!({ "title": " " })).await;
    assert_eq!((status, &told["code"]), (422, &json!("empty_label")), "{told}");
    // A conversation needs an existing folder; an imported one does not.
    for folder in [desk.file("nowhere"), desk.file("config.toml")] {
        let body = json!({ "folder": folder });
        let (status, told) = asking.post("/v1/conversations", &body).await;
        assert_eq!((status, &told["code"]), (409, &json!("folder_missing")), "{told}");
        assert_eq!(asking.post("/v1/imports", &body).await.0, 200);
    }
}

/// The limit is in the reply, so that a client knows what it can send.
#[tokio::test]
async fn trial_17_a_body_that_is_too_large_is_told_the_limit() {
    let desk = Desk::new().await;
    let asking = Asking::new(&desk);
    let body = format!("{{\"title\":\"{}\"}}", "x".repeat(64 << 20));
    let request = asking.request(Method::POST, "/v1/conversations");
    let request = request.header("content-type", "application/json").body(body);
    let told = asking.refused(request).await;
    assert!(told.starts_with("413 ") && told.contains("64 MiB") && told.contains("longer than"), "{told}");
}

/// JSON may contain half of a surrogate pair, which is no text: a replacement character takes its place.
#[tokio::test]
async fn trial_17_half_of_a_surrogate_pair_is_replaced() {
    let desk = Desk::new().await;
    let asking = Asking::new(&desk);
    let rows = [
        (r"a\ud800b", "a\u{fffd}b"),
        (r"a\uDFFF", "a\u{fffd}"),
        (r"\ud83d\ude00", "\u{1f600}"),
        (r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
        (r"\\ud800", "\\ud800"),
    ];
    for (given, text) in rows {
        let id = desk.create(None, None).await;
        let body = format!(r#"{{"role":"user","parts":[{{"type":"text","text":"x{given}"}}]}}"#);
        let request = asking.request(Method::POST, &format!("/v1/conversations/{id}/entries"));
        let answer =
            request.header("content-type", "application/json").body(body).send().await.expect("an answer");
        assert_eq!(answer.status(), 200, "{given}: {}", answer.text().await.expect("a text"));
        assert_eq!(desk.texts(&id).await, [format!("x{text}")], "{given}");
    }
}

/// The name of the scheme has no case (RFC 9110, 11.1), and more than one space may follow it.
#[tokio::test]
async fn trial_17_the_scheme_of_the_token_has_no_case() {
    let desk = Desk::new().await;
    let asking = Asking::new(&desk);
    let address = desk.served.address.expect("it listens");
    for (scheme, status) in [("bearer ", 200), ("BEARER  ", 200), ("basic ", 401), ("bearer", 401)] {
        let request = asking.http.get(format!("http://{address}/v1/status"));
        let request = request.header("authorization", format!("{scheme}{}", asking.token));
        assert_eq!(request.send().await.expect("an answer").status(), status, "{scheme}");
    }
}

/// A body announced as too long is refused before it is sent; if it is sent anyway, there is a reply.
#[tokio::test]
async fn trial_17_a_body_that_says_that_it_is_too_large_is_refused_before_it_comes() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let desk = Desk::new().await;
    for more in ["", "Expect: 100-continue\r\n"] {
        let mut line = tokio::net::UnixStream::connect(desk.socket()).await.expect("connected");
        let head = format!(
            "POST /v1/conversations HTTP/1.1\r\nHost: owner\r\nContent-Type: application/json\r\n{more}Content-Length: {}\r\n{}\r\n",
            (64 << 20) + 1,
            desk.bearer()
        );
        line.write_all(head.as_bytes()).await.expect("sent");
        let mut told = Vec::new();
        let answer = async {
            while !told.windows(6).any(|seen| seen == b"64 MiB") {
                assert_ne!(line.read_buf(&mut told).await.expect("read"), 0, "the connection ended");
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(30), answer)
            .await
            .expect("an answer before the body");
        let told = String::from_utf8(told).expect("a text");
        assert!(told.starts_with("HTTP/1.1 413 ") && told.contains("64 MiB"), "{told}");
    }
}

/// A malformed HTTP request gets an error like any other, even if it is found before there is a request.
#[tokio::test]
async fn trial_17_what_http_itself_refuses_is_told_as_a_problem() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let desk = Desk::new().await;
    let (long, many, bearer) = ("x".repeat(70_000), "a: b\r\n".repeat(200), desk.bearer());
    let rows = [
        (format!("GET /v1/{long} HTTP/1.1\r\nHost: owner\r\n\r\n"), 414, "uri_too_long"),
        (format!("GET /v1/status HTTP/1.1\r\nHost: owner\r\n{many}\r\n"), 431, "headers_too_large"),
        (
            format!("GET /v1/status HTTP/1.1\r\nHost: owner\r\nX: {}\r\n\r\n", long.repeat(10)),
            431,
            "headers_too_large",
        ),
        ("no request\r\n\r\n".to_owned(), 400, "bad_request"),
        (
            format!("GET /v1/conversations/%ff HTTP/1.1\r\nHost: owner\r\nConnection: close\r\n{bearer}\r\n"),
            400,
            "bad_request",
        ),
    ];
    for (request, status, code) in rows {
        let mut line = tokio::net::UnixStream::connect(desk.socket()).await.expect("connected");
        // The owner may close the connection before everything is sent.
        drop(line.write_all(request.as_bytes()).await);
        let mut told = Vec::new();
        drop(line.read_to_end(&mut told).await);
        let told = String::from_utf8(told).expect("a text");
        let (head, body) = told.split_once("\r\n\r\n").expect("a head");
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
        assert!(head.contains(&format!("content-type: {PROBLEM}")), "{head}");
        assert!(head.contains(&format!("content-length: {}", body.len())), "{head}: {body}");
        let body: Value = serde_json::from_str(body).expect("JSON");
        assert_eq!((&body["status"], &body["code"]), (&json!(status), &json!(code)), "{body}");
        assert!(body["hint"].is_string(), "{body}");
    }
}

#[tokio::test]
async fn trial_17_a_line_of_an_import_that_is_too_large_is_told_the_limit() {
    let desk = Desk::new().await;
    let asking = Asking::new(&desk);
    let line = format!("{{\"role\":\"user\",\"content\":\"{}\"}}", "x".repeat(80 << 20));
    let request = asking.request(Method::POST, "/v1/imports/stream").body(line);
    let told = asking.refused(request).await;
    assert!(told.starts_with("413 ") && told.contains("64 MiB") && told.contains("the line is"), "{told}");
    let bad = format!("no JSON\n{}", "x\n".repeat(8 << 20));
    let told = asking.refused(asking.request(Method::POST, "/v1/imports/stream").body(bad)).await;
    assert!(told.contains("bad_import") && told.contains("line 1"), "{told}");
    let document = asking.get("/openapi.json").await;
    let said = &document["components"]["responses"]["413"]["description"];
    assert!(said.as_str().is_some_and(|said| said.contains("line") && said.contains("64 MiB")), "{said}");
}

/// A misspelt option is refused wherever it is, and named with its path.
#[tokio::test]
async fn trial_17_an_unknown_field_is_named_with_its_path() {
    let desk = Desk::new().await;
    let asking = Asking::new(&desk);
    let id = desk.create(None, None).await;
    let entry = desk.say(&id, retake_wire::Role::User, "one").await;
    let rows = [
        ("plans", json!({ "action": "rewind", "entry": entry, "files": { "scop": "both" } }), "files.scop"),
        (
            "plans",
            json!({ "action": "rewind", "entry": entry,
                "files": { "choose": [{ "path": "a", "choice": "disk", "chioce": "yours" }] } }),
            "files.choose[0].chioce",
        ),
        (
            "plans",
            json!({ "action": "restore_files", "paths": [{ "path": "a", "pth": "b" }] }),
            "paths[0].pth",
        ),
        (
            "entries",
            json!({ "role": "user", "parts": [{ "type": "text", "text": "a", "txt": "b" }] }),
            "parts[0].txt",
        ),
        ("entries", json!({ "role": "user", "parts": [], "prts": [] }), "prts"),
        ("entries", json!({ "role": "user", "parts": [], "": 1 }), ""),
        (
            "entries",
            json!({ "role": "user", "parts": [{ "type": "text", "text": "a", "": 1 }] }),
            "parts[0].",
        ),
    ];
    for (place, body, path) in rows {
        let (status, told) = asking.post(&format!("/v1/conversations/{id}/{place}"), &body).await;
        assert_eq!(status, 400, "{body}: {told}");
        let detail = told["detail"].as_str().expect("a text");
        assert_eq!(detail, format!("`{path}` is not a field of this request"), "{body}");
    }
}
