//! Writes the OpenAPI document and the schemas of requests from the table and the types of `wire`. Only a few sentences are
//! written by hand.

use std::collections::{BTreeMap, BTreeSet};

use retake_wire::http::{
    ENDPOINTS, EVENTS, EXPORT, EXPORT_WHOLE, Endpoint, FOLLOW, IMPORT, IMPORT_WHOLE, LAST_EVENT, LIST_EVENTS,
    Method, PROBLEM, REQUEST_ID, RUN, RUNS,
};
use retake_wire::request::{ExportWhole, ImportWhole};
use retake_wire::{Event, Follow, Need, Problem, Reply, Request, Run, RunEvent};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use super::parts::{self, DRAFTED, SAID};
use super::shape::{choices, closed, entitle, tidy};
use super::{example, links};

/// The place of schemas in the document.
const SHAPES: &str = "/components/schemas";

/// The types that requests are parsed as.
const REQUESTS: &[&str] = &["ExportWhole", "Follow", "ImportWhole", "Request", "Run"];

/// Errors that any request can get.
const PROBLEMS: &[(u16, &str)] = &[
    (400, "This document does not describe such a request."),
    (401, "The token is missing or wrong, it has expired, or it was revoked."),
    (403, "The token does not permit it: `x-needs` of each operation says what it needs at least."),
    (404, "Something named in it is not there."),
    (409, "It is not possible in the current state, or the same key came with another request."),
    (412, "Its author saw an older state; `head` is the one of now."),
    (413, "The body is larger than 64 MiB; of an import that comes as a stream, one line of it."),
    (414, "The path with its query is longer than 65,534 bytes."),
    (415, "The body is not JSON."),
    (422, "The request can be read, and makes no sense as it is."),
    (431, "The headers are too many or too long."),
    (500, "A defect of ours."),
    (502, "The model or its provider failed."),
    (503, "The store or the machine failed."),
];

/// The schemas of all requests, with all that they refer to: the server parses requests with them.
pub(super) fn request_shapes() -> Value {
    let defined = Defined::new();
    let roots: Vec<Value> = REQUESTS.iter().map(|name| json!({ "$ref": at(name) })).collect();
    Value::Object(defined.needed_by(&roots.into()))
}

/// The document.
pub(super) fn document() -> Value {
    let defined = Defined::new();
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    let requests: BTreeMap<String, Value> = defined.requests().collect();
    for endpoint in ENDPOINTS {
        let shape = requests.get(endpoint.name).expect("BUG: every place in the table is a request's");
        let method = endpoint.method.name().to_lowercase();
        paths.entry(endpoint.path).or_default().insert(method, defined.operation(endpoint, shape));
    }
    paths.entry(RUNS).or_default().insert("post".to_owned(), defined.running());
    paths.entry(EXPORT).or_default().insert("get".to_owned(), defined.exporting());
    paths.entry(IMPORT).or_default().insert("post".to_owned(), defined.importing());
    for path in [EVENTS, LIST_EVENTS] {
        paths.entry(path).or_default().insert("get".to_owned(), defined.following(path));
    }
    for operation in paths.values_mut().flat_map(Map::values_mut) {
        example::add(operation, &defined.0);
        let links = links::of(operation["operationId"].as_str().unwrap_or_default());
        if links.as_object().is_some_and(|links| !links.is_empty()) {
            operation["responses"]["200"]["links"] = links;
        }
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Retake",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The owner of conversations. Every change is answered with a receipt; the same \
                `Idempotency-Key` again gets the same receipt and changes nothing.",
            "license": { "name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT" },
        },
        "security": [{ "token": [] }],
        "paths": paths,
        "components": { "responses": problems(), "securitySchemes": { "token": {
            "type": "http",
            "scheme": "bearer",
            "description": "The content of the file `token` in the data directory, which permits everything, or a token that \
                `token_create` made. Over the Unix socket there as over TCP.",
        } } },
    });
    let shapes = defined.needed_by(&document);
    document["components"]["schemas"] = Value::Object(shapes);
    document
}

fn problems() -> Value {
    let problem = |(status, what): &(u16, &str)| {
        let content = json!({ PROBLEM: { "schema": { "$ref": at("Problem") } } });
        (status.to_string(), json!({ "description": what, "content": content }))
    };
    Value::Object(PROBLEMS.iter().map(problem).collect())
}

pub(super) fn at(name: &str) -> String {
    format!("#{SHAPES}/{name}")
}

/// Every schema of `wire` by its name.
struct Defined(Map<String, Value>);

impl Defined {
    fn new() -> Self {
        let settings =
            SchemaSettings::draft2020_12().with(|settings| settings.definitions_path = SHAPES.into());
        let mut generator: SchemaGenerator = settings.into_generator();
        // Replies first: if a request and a reply have the same name, it is the reply's.
        generator.subschema_for::<Reply>();
        generator.subschema_for::<Problem>();
        generator.subschema_for::<RunEvent>();
        generator.subschema_for::<Request>();
        generator.subschema_for::<Run>();
        generator.subschema_for::<Event>();
        generator.subschema_for::<Follow>();
        generator.subschema_for::<ExportWhole>();
        generator.subschema_for::<ImportWhole>();
        let mut shapes = generator.take_definitions(true);
        for (name, shape) in &mut shapes {
            tidy(shape);
            if name != "Request" {
                entitle(name, shape);
            }
        }
        for (name, shape) in parts::shapes(&shapes["Part"]) {
            shapes.insert(name.to_owned(), shape);
        }
        for (request, name) in
            [("Say", SAID), ("Edit", SAID), ("Run", SAID), ("SetDraft", DRAFTED), ("SetDraftIn", DRAFTED)]
        {
            parts::take(&mut shapes[request], name);
        }
        Self(shapes)
    }

    fn get(&self, name: &str) -> &Value {
        self.0.get(name).expect("BUG: what is referred to is defined")
    }

    /// This schema, or the one it refers to.
    fn whole<'a>(&'a self, shape: &'a Value) -> &'a Value {
        let name = shape["$ref"].as_str().and_then(|at| at.rsplit('/').next());
        name.map_or(shape, |name| self.get(name))
    }

    /// The requests by their tag, as variants of `Request`.
    fn requests(&self) -> impl Iterator<Item = (String, Value)> {
        let variants = self.get("Request")["oneOf"].as_array().cloned().unwrap_or_default();
        variants.into_iter().map(|variant| {
            let name = variant["properties"]["request"]["const"].as_str().unwrap_or_default().to_owned();
            (name, variant)
        })
    }

    fn operation(&self, endpoint: &Endpoint, variant: &Value) -> Value {
        let shape = if variant["$ref"].is_string() { self.whole(variant) } else { &Value::Null };
        let in_path: Vec<&str> = endpoint.in_path().collect();
        let mut shape = shape.clone();
        let mut parameters: Vec<Value> =
            in_path.iter().map(|name| parameter(name, "path", &taken(&mut shape, name), true)).collect();
        if !taken(&mut shape, "request_id").is_null() {
            parameters.push(identity());
        }
        let says = variant["description"].as_str().unwrap_or_default();
        let mut operation = json!({
            "operationId": endpoint.name,
            "summary": says.split('→').next().unwrap_or_default().trim(),
            "tags": [topic(endpoint.path)],
            "x-needs": needs(endpoint.needs()),
            "responses": Self::responses(json!({ "application/json": { "schema": self.reply(endpoint.reply) } })),
        });
        let is_empty = shape["properties"].as_object().is_none_or(Map::is_empty) && choices(&shape).is_none();
        match endpoint.method {
            Method::Get | Method::Delete => {
                let required = names(&shape["required"]);
                for (name, field) in shape["properties"].as_object().into_iter().flatten() {
                    parameters.push(parameter(name, "query", field, required.contains(name.as_str())));
                }
            }
            _ if is_empty => {}
            _ => operation["requestBody"] = body(shape),
        }
        operation["parameters"] = parameters.into();
        operation
    }

    fn running(&self) -> Value {
        let mut shape = self.get("Run").clone();
        taken(&mut shape, "request_id");
        json!({
            "operationId": "run",
            "summary": "Starts a model run. Its events come as they happen; the last is `ended`. Who goes away stops nothing.",
            "tags": ["runs"],
            "x-needs": needs(RUN),
            "parameters": [identity()],
            "requestBody": body(shape),
            "responses": Self::responses(stream_of("RunEvent")),
        })
    }

    fn following(&self, path: &str) -> Value {
        let mut shape = self.get("Follow").clone();
        let named = taken(&mut shape, "conversation");
        let one = path == EVENTS;
        let since = taken(&mut shape, "since");
        let mut parameters =
            vec![parameter("since", "query", &since, false), parameter(LAST_EVENT, "header", &since, false)];
        if one {
            parameters.push(parameter("conversation", "path", &named, true));
        }
        let summary = match one {
            true => {
                "Follows a conversation: first how it is, or what changed since an event, then all that happens."
            }
            false => "Follows the list of conversations.",
        };
        json!({
            "operationId": if one { "follow" } else { "follow_list" },
            "summary": summary,
            "description": "An event's id names it to who comes back. Events that are not stored, such as pieces of an answer, have none.",
            "tags": ["events"],
            "x-needs": needs(FOLLOW),
            "parameters": parameters,
            "responses": Self::responses(stream_of("Event")),
        })
    }

    /// The query parameters of a schema, in order; those of the path are removed before.
    fn queries(shape: &Value) -> Vec<Value> {
        let fields = shape["properties"].as_object().into_iter().flatten();
        fields.map(|(name, field)| parameter(name, "query", field, false)).collect()
    }

    fn exporting(&self) -> Value {
        let mut shape = self.get("ExportWhole").clone();
        let named = parameter("conversation", "path", &taken(&mut shape, "conversation"), true);
        let parameters = [vec![named], Self::queries(&shape)].concat();
        let text = json!({ "schema": { "type": "string" } });
        let kinds = ["application/x-ndjson", "text/markdown", "text/plain"];
        let content: Map<String, Value> =
            kinds.iter().map(|kind| ((*kind).to_owned(), text.clone())).collect();
        json!({
            "operationId": "export_stream",
            "summary": "A whole export as one body, of the state that its beginning found. One that can't be read to its end is cut off.",
            "tags": ["conversations"],
            "x-needs": needs(EXPORT_WHOLE),
            "parameters": parameters,
            "responses": Self::responses(content.into()),
        })
    }

    fn importing(&self) -> Value {
        let parameters = [Self::queries(self.get("ImportWhole")), vec![identity()]].concat();
        let receipt = json!({ "application/json": { "schema": self.reply("receipt") } });
        // The plain type of bytes, which every client generator knows.
        let said = [
            json!({ "role": "user", "content": "What is 17 * 3?" }),
            json!({ "role": "assistant", "content": "51" }),
        ];
        let said: String = said.iter().map(|line| format!("{line}\n")).collect();
        let lines = json!({ "schema": { "type": "string", "format": "binary" }, "example": said });
        json!({
            "operationId": "import_stream",
            "summary": "Imports the lines of the body, whose type does not matter: all of them, or nothing where it breaks off.",
            "tags": ["imports"],
            "x-needs": needs(IMPORT_WHOLE),
            "parameters": parameters,
            "requestBody": { "required": true, "content": { "application/octet-stream": lines } },
            "responses": Self::responses(receipt),
        })
    }

    fn reply(&self, name: &str) -> Value {
        let variants = self.get("Reply")["oneOf"].as_array().into_iter().flatten();
        let mut found = variants.filter(|variant| variant["properties"]["reply"]["const"] == name);
        found.next().cloned().expect("BUG: the table names replies that there are")
    }

    fn responses(content: Value) -> Value {
        let problems = PROBLEMS.iter().map(|(status, _)| {
            (status.to_string(), json!({ "$ref": format!("#/components/responses/{status}") }))
        });
        let done = ("200".to_owned(), json!({ "description": "It is done.", "content": content }));
        Value::Object(std::iter::once(done).chain(problems).collect())
    }

    /// The schemas that a document refers to, directly or indirectly.
    fn needed_by(&self, document: &Value) -> Map<String, Value> {
        let mut needed = BTreeSet::new();
        let mut todo = vec![document];
        while let Some(value) = todo.pop() {
            match value {
                Value::Object(members) => {
                    if let Some(name) = shape_of(members)
                        && needed.insert(name.to_owned())
                    {
                        todo.push(self.get(name));
                    }
                    todo.extend(members.values());
                }
                Value::Array(items) => todo.extend(items),
                _ => {}
            }
        }
        needed.into_iter().map(|name| (name.clone(), self.get(&name).clone())).collect()
    }
}

/// A stream of events, by the form of one event: its `data` is a JSON text of this schema.
fn stream_of(name: &str) -> Value {
    let data = json!({
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": { "$ref": at(name) },
    });
    let id =
        json!({ "type": "string", "description": "Names the event to who comes back, where there is one." });
    let event = json!({
        "type": "object",
        "description": "An event of the stream.",
        "properties": { "id": id, "data": data },
        "required": ["data"],
    });
    json!({ "text/event-stream": { "schema": event } })
}

/// The name of the schema that this refers to.
fn shape_of(members: &Map<String, Value>) -> Option<&str> {
    members.get("$ref")?.as_str()?.strip_prefix('#')?.strip_prefix(SHAPES)?.strip_prefix('/')
}

/// Removes a field from a schema.
fn taken(shape: &mut Value, name: &str) -> Value {
    let required = shape.get_mut("required").and_then(Value::as_array_mut);
    required.into_iter().for_each(|required| required.retain(|other| other != name));
    let fields = shape.get_mut("properties").and_then(Value::as_object_mut);
    fields.and_then(|fields| fields.remove(name)).unwrap_or_default()
}

fn names(list: &Value) -> BTreeSet<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn parameter(name: &str, place: &str, field: &Value, required: bool) -> Value {
    let mut schema = field.clone();
    let says = schema.as_object_mut().and_then(|schema| schema.remove("description")).unwrap_or_default();
    // An absent parameter is not sent: there is no null in a path or a query.
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            schema["type"] = only.clone();
        }
    }
    if let Some(only) =
        schema["anyOf"].as_array().and_then(|any| any.iter().find(|one| one["type"] != "null"))
    {
        schema = only.clone();
    }
    if place == "path" {
        schema["minLength"] = 1.into();
    }
    json!({ "name": name, "in": place, "required": required, "description": says, "schema": schema })
}

fn identity() -> Value {
    json!({
        "name": REQUEST_ID,
        "in": "header",
        "required": false,
        "description": "Names the request, so that it is done once. The same request with the same key gets the first receipt \
            again: while the first one is still being done, later, after a restart, and also where nothing had to be changed. \
            A run that is at work goes on for both. Another request with the key is refused (`request_reused`). A key counts \
            in its conversation; for requests that make a conversation it counts among those. It is remembered as long as the \
            conversation is. A refusal is not remembered. What a reply carries once, such as messages that waited for a run, is \
            not repeated. Requests without this parameter refuse the header.",
        "schema": { "type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[!-~]+$" },
    })
}

fn body(shape: Value) -> Value {
    let needs = |shape: &Value| shape["required"].as_array().is_some_and(|required| !required.is_empty());
    let required = needs(&shape) || choices(&shape).is_some();
    json!({ "required": required, "content": { "application/json": { "schema": closed(shape) } } })
}

/// The least that a token must permit, and where: `everything`, `named` (in the named conversation; without one, everywhere) or
/// `somewhere` (the reply has only what the token covers).
fn needs(need: Need) -> Value {
    let (right, over): (&str, &str) = (need.right.into(), need.over.into());
    json!({ "right": right, "over": over })
}

/// The topic of a path.
fn topic(path: &str) -> &str {
    path.split('/').filter(|part| !part.starts_with('{')).nth(2).unwrap_or("owner")
}
