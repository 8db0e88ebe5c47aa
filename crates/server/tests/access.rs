//! Access: every endpoint with every grant, and what a token can never do.

use std::time::Duration;

use futures::StreamExt;
use reqwest::Method;
use retake_wire::reply::{Conversations, Entries, Operations, Tree};
use retake_wire::request::{ConversationTarget, List, Page};
use retake_wire::{
    Client, Follow, Grant, HttpClient, OwnerAddress, Principal, Problem, Reply, Request, Right, Role, Run,
    RunNotice, TokenCreate, TokenTarget, Tokens,
};
use serde_json::{Value, json};

use super::world::{Desk, apply, get, log, rewind, said, tree};

const RIGHTS: [Right; 4] = [Right::Read, Right::Talk, Right::Rewind, Right::Administer];

/// A token with one grant; returns its secret.
async fn token(desk: &Desk, name: &str, right: Right, conversation: Option<&str>) -> String {
    let grants = vec![Grant { right, conversation: conversation.map(str::to_owned) }];
    let create = TokenCreate { name: name.to_owned(), grants, gateway: None, expires_in_s: None };
    get!(desk, NewToken, Request::TokenCreate(create)).secret
}

/// A client with this secret.
fn bearer(desk: &Desk, secret: &str) -> HttpClient {
    HttpClient::new(OwnerAddress::Socket { path: desk.socket(), token: Some(secret.to_owned()) })
        .expect("a client")
}

async fn code(client: &HttpClient, request: Request) -> String {
    match client.call(request).await {
        Ok(_) => "done".to_owned(),
        Err(problem) => problem.code.to_string(),
    }
}

/// A request of an operation of the API document, made from its examples.
struct Example {
    name: String,
    method: Method,
    path: String,
    body: Option<Value>,
    right: String,
    over: String,
}

/// Every operation of the document, with its example for this conversation.
fn examples(conversation: &str) -> Vec<Example> {
    let document: Value = serde_json::from_str(retake_server::OPENAPI).expect("a document");
    let mut examples = Vec::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let name = operation["operationId"].as_str().expect("an id").to_owned();
            let (mut path, mut query) = (path.clone(), Vec::new());
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let field = parameter["name"].as_str().expect("a name");
                let example = match (field, &parameter["example"]) {
                    ("conversation", _) => conversation.to_owned(),
                    (_, Value::String(text)) => text.clone(),
                    (_, other) => other.to_string(),
                };
                match parameter["in"].as_str() {
                    Some("path") => path = path.replace(&format!("{{{field}}}"), &example),
                    Some("query") if parameter["required"] == true || field == "conversation" => {
                        query.push(format!("{field}={example}"));
                    }
                    _ => {}
                }
            }
            if !query.is_empty() {
                path = format!("{path}?{}", query.join("&"));
            }
            let body = operation.pointer("/requestBody/content/application~1json/example").cloned();
            let body = body.map(|mut body| {
                if name == "token_create" {
                    body["grants"][0]["conversation"] = conversation.into();
                }
                if body.get("conversation").is_some() {
                    body["conversation"] = conversation.into();
                }
                // Without what needs more than the least.
                if let Some(fields) = body.as_object_mut() {
                    if ["create", "run"].contains(&&*name) {
                        fields.remove("folder");
                        fields.remove("permit");
                    }
                    fields.remove("role").is_some().then(|| fields.insert("role".to_owned(), "user".into()));
                }
                body
            });
            let needs = |field: &str| operation["x-needs"][field].as_str().expect("what it needs").to_owned();
            let method = method.to_uppercase().parse().expect("a method");
            examples.push(Example { name, method, path, body, right: needs("right"), over: needs("over") });
        }
    }
    examples
}

/// The answer to a request: `ok` for everything that was not refused for want of a grant.
async fn answered(desk: &Desk, http: &reqwest::Client, secret: &str, example: &Example) -> &'static str {
    let address = desk.served.address.expect("it listens");
    let mut request = http.request(example.method.clone(), format!("http://{address}{}", example.path));
    if let Some(body) = &example.body {
        request = request.json(body);
    }
    let response = request.bearer_auth(secret).send().await.expect("an answer");
    match response.status().as_u16() {
        200 => "ok",
        401 => "stranger",
        403 => "refused",
        _ => match response.json::<Value>().await.expect("a problem")["code"].as_str() {
            Some("unknown_conversation") => "hidden",
            _ => "ok",
        },
    }
}

/// What a grant permits, as `docs/security.md` says it: written again here, so that the owner's rule is not compared with itself.
fn expected(example: &Example, granted: Right, is_everywhere: bool, is_of_this: bool) -> &'static str {
    let rank =
        |right: &str| ["read", "talk", "rewind", "administer"].iter().position(|other| *other == right);
    let granted: &str = granted.into();
    let is_enough = rank(granted) >= rank(&example.right);
    match (example.over.as_str(), is_everywhere) {
        // Only the token of that gateway.
        ("account", _) => "refused",
        (_, true) if is_enough => "ok",
        ("named", false) if example.path.contains("conversation") || example.name == "run" => {
            match (is_of_this, is_enough) {
                (false, _) => "hidden",
                (true, true) => "ok",
                (true, false) => "refused",
            }
        }
        ("somewhere", false) if is_enough => "ok",
        _ => "refused",
    }
}

/// Invariant 15 of the design: no principal reads or changes what no grant of it covers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_endpoint_answers_every_grant_as_the_document_says() {
    let desk = Desk::new().await;
    let (other, _) = desk.talk(&["elsewhere"]).await;
    let mut secrets = Vec::new();
    for right in RIGHTS {
        let name: &str = right.into();
        secrets.push((right, true, true, token(&desk, &format!("{name}-all"), right, None).await));
        secrets.push((
            right,
            false,
            false,
            token(&desk, &format!("{name}-other"), right, Some(&other)).await,
        ));
    }
    retake_tools::tls::prepare();
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (at, right) in
        [None, Some(Right::Read), Some(Right::Talk), Some(Right::Rewind)].into_iter().enumerate()
    {
        // A new one for each grant: some requests change it.
        let (of, _) = desk.talk(&["one", "two"]).await;
        let own = match right {
            Some(right) => {
                Some((right, false, true, token(&desk, &format!("own-{at}"), right, Some(&of)).await))
            }
            None => None,
        };
        // A request of the user comes last, and those that end things are not sent with a sufficient grant.
        let ends = ["stop", "run", "backup", "mcp_list", "mcp_tools", "doctor", "workspace_prune"];
        for example in examples(&of) {
            let several = own.iter().chain(if own.is_none() { secrets.as_slice() } else { &[] });
            for (right, everywhere, of_this, secret) in several {
                let expected = expected(&example, *right, *everywhere, *of_this);
                if expected == "ok" && ends.contains(&example.name.as_str()) {
                    continue;
                }
                count += 1;
                let answered = answered(&desk, &http, secret, &example).await;
                if answered != expected {
                    wrong.push(format!(
                        "{} with {right:?} everywhere: {everywhere}: {answered}, not {expected}",
                        example.name
                    ));
                }
            }
            if own.is_none() {
                for stranger in ["", "rtk_0", "wrong"] {
                    let answered = answered(&desk, &http, stranger, &example).await;
                    (answered != "stranger")
                        .then(|| wrong.push(format!("{}: a stranger gets {answered}", example.name)));
                }
            }
        }
    }
    assert!(count > 900, "{count}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The table in one view: a changed row is a change of what tokens permit.
#[test]
fn needs_of_all_requests_are_reviewed() {
    let rows = examples("c").into_iter().map(|it| format!("{} {} {}", it.right, it.over, it.name));
    let mut rows: Vec<String> = rows.collect();
    rows.sort();
    insta::assert_snapshot!(rows.join("\n"));
}

#[tokio::test]
async fn contents_that_need_more_than_their_request_are_refused() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two"]).await;
    let client = bearer(&desk, &token(&desk, "bot", Right::Rewind, None).await);
    let ask = |value: Value| serde_json::from_value::<Request>(value).expect("a request");
    let say = |more: Value| {
        let mut say = json!({ "request": "say", "conversation": id, "role": "user",
            "parts": [{ "type": "text", "text": "x" }] });
        say.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        ask(say)
    };
    let call = json!({ "type": "tool_call", "id": "1", "name": "shell", "arguments": "{}" });
    let rows = [
        (ask(json!({ "request": "create", "folder": "/tmp" })), false),
        (ask(json!({ "request": "create" })), true),
        (say(json!({})), true),
        (say(json!({ "role": "assistant" })), false),
        (say(json!({ "author": "somebody else" })), false),
        (say(json!({ "synthetic": true })), false),
        (say(json!({ "time_ms": 5 })), false),
        (say(json!({ "platform_id": "7" })), false),
        (say(json!({ "parts": [call] })), false),
        (apply(&id, rewind(&entries[0])), true),
        (ask(json!({ "request": "apply", "conversation": id, "action": "erase", "matching": "one" })), false),
    ];
    for (request, is_permitted) in rows {
        let what = format!("{request:?}");
        let code = code(&client, request).await;
        assert_eq!(code, if is_permitted { "done" } else { "not_permitted" }, "{what}");
    }
    let run = |value: Value| serde_json::from_value::<Run>(value).expect("a run");
    let text = json!([{ "type": "text", "text": "x" }]);
    for refused in [
        json!({ "conversation": id, "start": "exec", "command": ["true"] }),
        json!({ "start": "say", "parts": text, "folder": "/tmp" }),
        json!({ "conversation": id, "start": "say", "parts": text, "permit": { "allow": ["shell"] } }),
        json!({ "conversation": id, "start": "say", "parts": text, "permit": { "mode": "allow-all" } }),
    ] {
        let Ok(run) = serde_json::from_value::<Run>(refused.clone()) else { panic!("not a run: {refused}") };
        let problem = client.run(run).await.err().expect("refused");
        assert_eq!(problem.code, "not_permitted", "{refused}");
    }
    let talker = bearer(&desk, &token(&desk, "talker", Right::Talk, None).await);
    let retry = run(json!({ "conversation": id, "start": "retry", "entry": "@" }));
    assert_eq!(talker.run(retry).await.err().expect("refused").code, "not_permitted");
}

/// A conversation without a grant looks like one that does not exist: no name, no list, no fork tells of it.
#[tokio::test]
async fn conversation_without_a_grant_does_not_exist() {
    let desk = Desk::new().await;
    let (own, _) = desk.talk(&["mine"]).await;
    let (secret, _) = desk.talk(&["not yours"]).await;
    let fork = json!({ "request": "fork", "conversation": own, "title": "not yours either" });
    get!(desk, Receipt, serde_json::from_value(fork).expect("a request"));
    let client = bearer(&desk, &token(&desk, "reader", Right::Read, Some(&own)).await);
    let info = async |name: &str| {
        let problem = client.call(Request::Info(ConversationTarget { conversation: name.to_owned() })).await;
        let Err(Problem { code, kind, fields, causes, .. }) = problem else { panic!("it reads {name}") };
        (code, kind, fields.keys().cloned().collect::<Vec<_>>(), causes)
    };
    let (there, none) = (info(&secret).await, info("0199a000-5c1e-7d20-8f3a-2b6c9d0e1f42").await);
    assert_eq!(there, none);
    assert_eq!(info(&secret[..8]).await, none);
    let list = |list: List| client.call(Request::List(list));
    let Ok(Reply::Conversations(Conversations { conversations, .. })) = list(List::default()).await else {
        panic!("a list")
    };
    assert_eq!(conversations.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), [own.as_str()]);
    let beyond = list(List { before: Some(secret.clone()), ..List::default() }).await.expect_err("not there");
    assert_eq!(beyond.code, "unknown_conversation");
    let Ok(Reply::Tree(Tree { forks, .. })) = client.call(Request::Tree(tree(&own))).await else {
        panic!("a tree")
    };
    assert!(forks.is_empty(), "{forks:?}");
    let mine = get!(desk, Tree, Request::Tree(tree(&own)));
    assert_eq!(mine.forks.len(), 1);
    let Ok(Reply::Entries(Entries { entries, .. })) = client.call(Request::Log(log(&own))).await else {
        panic!("a log")
    };
    assert_eq!(entries.len(), 1);
    assert_eq!(code(&client, Request::Log(log(&secret))).await, "unknown_conversation");
    let follow = Follow { conversation: Some(secret), since: None };
    assert_eq!(client.follow(follow).await.err().expect("refused").code, "unknown_conversation");
    let all = Follow { conversation: None, since: None };
    assert_eq!(client.follow(all).await.err().expect("refused").code, "not_permitted");
}

#[tokio::test]
async fn operation_and_message_have_the_name_of_the_token() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two"]).await;
    let client = bearer(&desk, &token(&desk, "phone", Right::Rewind, Some(&id)).await);
    client.call(apply(&id, rewind(&entries[0]))).await.expect("rewound");
    client.call(Request::Say(said(&id, Role::User, "hello"))).await.expect("said");
    let page = Request::Ops(Page { conversation: id.clone(), limit: None, before: None });
    let Operations { operations, .. } = get!(desk, Operations, page);
    assert_eq!(operations[0].principal, Principal::Token { name: "phone".to_owned() });
    let Entries { entries, .. } = get!(desk, Entries, Request::Log(log(&id)));
    assert_eq!(entries.last().map(|entry| entry.author.as_str()), Some("phone"));
}

/// The user may name any file; a token must not reach the files of this machine so.
#[tokio::test]
async fn message_of_a_token_attaches_no_file() {
    let desk = Desk::fast().await;
    let file = desk.file("secret.txt");
    std::fs::write(&file, "hunter2").expect("written");
    let talker = bearer(&desk, &token(&desk, "talker", Right::Talk, None).await);
    for (client, attaches) in [(&*desk.client, true), (&talker, false)] {
        let id = desk.create(None, Some(&desk.folder("work"))).await;
        let text = format!("see @{}", file.display());
        let start =
            json!({ "conversation": id, "start": "say", "parts": [{ "type": "text", "text": text }] });
        let run: Run = serde_json::from_value(start).expect("a run");
        let events = client.run(run).await.expect("begun");
        assert!(events.count().await > 1, "it is answered");
        let Entries { entries, .. } = get!(desk, Entries, Request::Log(log(&id)));
        let said = serde_json::to_string(&entries[0].parts).expect("JSON");
        assert_eq!(said.contains("hunter2") || said.contains("aHVudGVyMg"), attaches, "{said}");
    }
}

#[tokio::test]
async fn size_of_a_message_tells_a_token_nothing_of_a_file() {
    let desk = Desk::tiny().await;
    let file = desk.file("secret.txt");
    std::fs::write(&file, "hunter2 ".repeat(4_000)).expect("written");
    let reader = bearer(&desk, &token(&desk, "reader", Right::Read, None).await);
    let id = desk.create(None, Some(&desk.folder("work"))).await;
    let size = async |client: &dyn Client, path: &std::path::Path| {
        let query = json!({
            "conversation": id, "model": "ollama/tiny",
            "parts": [{ "type": "text", "text": format!("see @{}", path.display()) }],
        });
        let query = serde_json::from_value(query).expect("a query");
        let Ok(Reply::Context(context)) = client.call(Request::Context(query)).await else {
            panic!("a reply")
        };
        let Some(RunNotice::TooLongForModel { tokens, .. }) = context.warning else { panic!("{context:?}") };
        tokens
    };
    let missing = desk.file("absent.txt");
    assert!(size(&*desk.client, &file).await > size(&*desk.client, &missing).await + 1_000);
    assert_eq!(size(&reader, &file).await, size(&reader, &missing).await);
}

#[tokio::test]
async fn revoked_or_expired_token_is_refused_and_its_streams_end() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["one"]).await;
    let grants = vec![Grant { right: Right::Read, conversation: None }];
    let short = TokenCreate { name: "short".into(), grants, gateway: None, expires_in_s: Some(1) };
    let short = get!(desk, NewToken, Request::TokenCreate(short));
    assert!(short.token.is_valid);
    for (secret, ends) in
        [(short.secret, "expired"), (token(&desk, "long", Right::Read, None).await, "revoked")]
    {
        let client = bearer(&desk, &secret);
        let follow = Follow { conversation: Some(id.clone()), since: None };
        let mut events = client.follow(follow).await.expect("followed");
        events.next().await.expect("a snapshot");
        if ends == "revoked" {
            let Tokens { tokens } =
                get!(desk, Tokens, Request::TokenRevoke(TokenTarget { name: "long".into() }));
            assert!(tokens.iter().all(|token| !token.is_valid), "{tokens:?}");
        }
        let over = tokio::time::timeout(Duration::from_secs(20), events.count()).await;
        assert_eq!(over, Ok(0), "the stream ends");
        let problem = client.call(Request::Info(ConversationTarget { conversation: id.clone() })).await;
        let problem = problem.expect_err("refused");
        assert_eq!((&*problem.code, &problem.fields["what"]), ("unauthorized", &json!(ends)));
    }
    let again = desk.client.call(Request::TokenRevoke(TokenTarget { name: "long".into() })).await;
    assert_eq!(again.expect_err("refused").code, "no_token");
}

/// The secret of a token is in no file of the owner.
#[tokio::test]
async fn secret_of_a_token_is_stored_nowhere() {
    let desk = Desk::new().await;
    let secret = token(&desk, "phone", Right::Administer, None).await;
    assert!(secret.len() > 64, "{secret}");
    let desk = desk.gives_way().await;
    let client = bearer(&desk, &secret);
    assert_eq!(code(&client, Request::Status).await, "done", "it is valid after a restart");
    let mut folders = vec![desk.file("data")];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for file in std::fs::read_dir(folder).expect("read") {
            let path = file.expect("read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.is_file() {
                let bytes = std::fs::read(&path).expect("read");
                assert!(
                    !bytes.windows(20).any(|part| part == &secret.as_bytes()[..20]),
                    "{}",
                    path.display()
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 3, "{seen}");
}
