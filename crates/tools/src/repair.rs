//! Repairs a call that is almost right, before anything decides about it: names of other agents' tools and parameters, values in
//! a string, an edit without its list. Pure. It must never change a call that is valid, guess between two meanings, or drop
//! what it does not know. Such a call stays as it is, and its error is reported.

mod names;

use std::fmt;

use serde_json::{Map, Value, json};

use crate::set::{Tool, Toolbox};
use names::squashed;

/// A repaired call, which is valid.
#[derive(Clone, Debug, PartialEq)]
pub struct RepairedCall {
    /// The name of a tool that exists.
    pub name: String,
    /// Arguments that the tool accepts.
    pub arguments: Value,
    /// What was repaired, in this order.
    pub repairs: Vec<Repair>,
}

/// One repair of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Another name of the tool.
    Tool(String, String),
    /// Another name of a parameter.
    Parameter(String, String),
    /// A value in a string, or another form of it, in this parameter.
    Value(String),
    /// The arguments as a whole were a string.
    Arguments,
    /// An edit that was not in a list.
    SingleEdit,
    /// A parameter without a meaning: an optional one that is null, or the same as another.
    LeftOut(String),
}

/// For the model.
impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(from, to) => write!(f, "the tool `{from}` is `{to}`"),
            Self::Parameter(from, to) => write!(f, "`{from}` is `{to}`"),
            Self::Value(name) => write!(f, "`{name}` had another type or form"),
            Self::Arguments => f.write_str("the arguments were a string"),
            Self::SingleEdit => f.write_str("edits go into the list `edits`"),
            Self::LeftOut(name) => write!(f, "`{name}` was left out"),
        }
    }
}

/// The call as its author must have meant it; `None` if it is valid already, or has no single meaning.
pub fn repair(tools: &Toolbox, name: &str, arguments: &str) -> Option<RepairedCall> {
    let given = match arguments.trim() {
        "" => json!({}),
        text => serde_json::from_str(text).ok()?,
    };
    let tool = tool(tools, name)?;
    let mut repairs = Vec::new();
    if tool.name() != name {
        repairs.push(Repair::Tool(name.to_owned(), tool.name().to_owned()));
    }
    let is_known = !is_foreign(tool.name());
    if !is_known || (given.is_object() && tool.accepts(&given)) {
        let is_changed = !repairs.is_empty() && given.is_object();
        let name = tool.name().to_owned();
        return is_changed.then_some(RepairedCall { name, arguments: given, repairs });
    }
    let schema = tool.schema();
    let mut repairer = Repairer { tool: tool.name(), repairs };
    let fields = repairer.fields(given, &schema)?;
    let arguments = Value::Object(repairer.object(fields, &schema)?);
    let Repairer { repairs, .. } = repairer;
    let name = tool.name().to_owned();
    tool.accepts(&arguments).then_some(RepairedCall { name, arguments, repairs })
}

/// Whether a tool is that of an MCP server.
fn is_foreign(name: &str) -> bool {
    name.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("mcp__"))
}

/// The one tool that this name can mean.
fn tool<'a>(tools: &'a Toolbox, name: &str) -> Option<&'a dyn Tool> {
    if let Some(tool) = tools.get(name) {
        return Some(&**tool);
    }
    let is_same = |known: &str| match (is_foreign(name), is_foreign(known)) {
        (true, true) => known.eq_ignore_ascii_case(name),
        (false, false) => squashed(known) == squashed(name),
        _ => false,
    };
    let mut same = tools.all().filter(|tool| is_same(tool.name()));
    // A server's tool of that name may be meant: models leave out the prefix.
    let is_servers = |known: &str| {
        is_foreign(known) && known.rsplit("__").next().is_some_and(|own| squashed(own) == squashed(name))
    };
    match (same.next(), same.next()) {
        (Some(tool), None) => Some(&**tool),
        (Some(_), Some(_)) => None,
        (None, _) if tools.all().any(|tool| is_servers(tool.name())) => None,
        (None, _) => tools.get(names::of_tool(name)?).map(|tool| &**tool),
    }
}

/// Repairs the arguments of one call.
struct Repairer<'a> {
    tool: &'a str,
    repairs: Vec<Repair>,
}

impl Repairer<'_> {
    /// The arguments as an object.
    fn fields(&mut self, given: Value, schema: &Value) -> Option<Map<String, Value>> {
        match given {
            Value::Object(fields) => Some(fields),
            Value::String(text) => {
                self.repairs.push(Repair::Arguments);
                if let Ok(Value::Object(fields)) = serde_json::from_str(&text) {
                    return Some(fields);
                }
                // An object with an error, a list, a text in quotes: nobody knows which text was meant.
                if text.trim_start().starts_with(['{', '[', '"']) {
                    return None;
                }
                // A text alone is the only parameter that must be given, if that is a text.
                let [Value::String(only)] = schema.get("required")?.as_array()?.as_slice() else {
                    return None;
                };
                let is_text = types(&schema["properties"][only]) == ["string"];
                is_text.then(|| Map::from_iter([(only.clone(), Value::String(text))]))
            }
            _ => None,
        }
    }

    /// An object with the names and types of its schema.
    fn object(&mut self, fields: Map<String, Value>, schema: &Value) -> Option<Map<String, Value>> {
        let fields = self.named(fields, schema)?;
        let fields = self.listed(fields, schema)?;
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|own| own == name));
        let mut repaired = Map::new();
        for (name, value) in fields {
            let Some(own) = schema["properties"].get(&name) else {
                repaired.insert(name, value);
                continue;
            };
            if value.is_null() && !is_required(&name) {
                self.repairs.push(Repair::LeftOut(name));
                continue;
            }
            let value = self.value(&name, value, own)?;
            repaired.insert(name, value);
        }
        Some(repaired)
    }

    /// The fields under the names of the schema; `None` if two of them are one.
    fn named(&mut self, fields: Map<String, Value>, schema: &Value) -> Option<Map<String, Value>> {
        // The parts of an edit may stand beside its list.
        let parts = if self.tool == "edit" { EDIT.as_slice() } else { &[] };
        let properties: Vec<&str> = schema["properties"].as_object()?.keys().map(String::as_str).collect();
        let is_own = |name: &str| properties.contains(&name) || parts.contains(&name);
        let (mut own, others): (Map<_, _>, Map<_, _>) =
            fields.into_iter().partition(|(name, _)| is_own(name));
        for (name, value) in others {
            let mut all = properties.iter().chain(parts).copied();
            let same = all.find(|own| squashed(own) == squashed(&name));
            let known = same.or_else(|| names::of_parameter(self.tool, &name)).filter(|known| is_own(known));
            match known.and_then(|known| own.get(known)) {
                Some(there) if *there == value || value.is_null() => self.repairs.push(Repair::LeftOut(name)),
                Some(there) if !there.is_null() => return None,
                _ => {
                    let known = known.unwrap_or(&name).to_owned();
                    own.insert(known.clone(), value);
                    if name != known {
                        self.repairs.push(Repair::Parameter(name, known));
                    }
                }
            }
        }
        Some(own)
    }

    /// The parts of one edit in the list that the schema has for them.
    fn listed(&mut self, mut fields: Map<String, Value>, schema: &Value) -> Option<Map<String, Value>> {
        let is_edit = self.tool == "edit" && schema["properties"].get("edits").is_some();
        if !is_edit || fields.get("edits").is_some_and(|edits| !edits.is_object()) {
            return Some(fields);
        }
        let mut edit = Map::new();
        for part in EDIT {
            edit.extend(fields.remove(part).map(|value| (part.to_owned(), value)));
        }
        match (fields.remove("edits"), edit.is_empty()) {
            (Some(Value::Object(edits)), true) => edit = edits,
            (Some(_), _) => return None,
            (None, true) => return Some(fields),
            (None, false) => {}
        }
        self.repairs.push(Repair::SingleEdit);
        fields.insert("edits".to_owned(), Value::Array(vec![Value::Object(edit)]));
        Some(fields)
    }

    /// A value of the type that its schema has.
    fn value(&mut self, name: &str, value: Value, schema: &Value) -> Option<Value> {
        let types = types(schema);
        let takes = |kind: &str| types.contains(&kind);
        let repaired = match &value {
            Value::String(text) if !takes("string") => in_text(text, &types, schema),
            // `bash -lc LINE` as a list of words.
            Value::Array(words) if self.tool == "shell" && name == "command" => line(words),
            Value::Number(number) if takes("integer") && number.is_f64() => whole(&value),
            _ => None,
        };
        // The first line to read, counted from 0.
        let is_start = self.tool == "read" && name == "offset";
        let repaired =
            if is_start && *repaired.as_ref().unwrap_or(&value) == 0 { Some(json!(1)) } else { repaired };
        if repaired.is_some() {
            self.repairs.push(Repair::Value(name.to_owned()));
        }
        match repaired.unwrap_or(value) {
            Value::Array(items) if schema.get("items").is_some() => {
                let items = items.into_iter().map(|item| match item {
                    Value::Object(fields) if schema["items"].get("properties").is_some() => {
                        self.object(fields, &schema["items"]).map(Value::Object)
                    }
                    item => self.value(name, item, &schema["items"]),
                });
                items.collect::<Option<_>>().map(Value::Array)
            }
            Value::Object(fields) if schema.get("properties").is_some() => {
                self.object(fields, schema).map(Value::Object)
            }
            value => Some(value),
        }
    }
}

/// The parts of an edit.
const EDIT: [&str; 3] = ["old", "new", "all"];

/// The types that a schema has.
fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(all) => all.iter().filter_map(Value::as_str).filter(|own| *own != "null").collect(),
        // A choice of fixed words.
        _ => vec!["string"],
    }
}

/// The value of one of these types in a text.
fn in_text(text: &str, types: &[&str], schema: &Value) -> Option<Value> {
    let value: Value = serde_json::from_str(text.trim()).ok()?;
    let value = if types.contains(&"integer") { whole(&value).unwrap_or(value) } else { value };
    let kind = match &value {
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) | Value::Null => return None,
    };
    // One object alone is a list, where a list of objects is meant.
    let is_one = kind == "object" && types.contains(&"array") && schema["items"].get("properties").is_some();
    let fits = types.contains(&kind) || (kind == "integer" && types.contains(&"number"));
    match (fits, is_one) {
        (true, _) => Some(value),
        (false, true) => Some(Value::Array(vec![value])),
        (false, false) => None,
    }
}

/// A number without a fraction.
fn whole(value: &Value) -> Option<Value> {
    let number = value.as_f64().filter(|_| value.is_f64())?;
    (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then(|| json!(number as u64))
}

/// The command line in the words that start a shell with it.
fn line(words: &[Value]) -> Option<Value> {
    let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
    match words?.as_slice() {
        ["bash" | "/bin/bash" | "sh" | "/bin/sh", "-c" | "-lc", line] => Some(json!(line)),
        _ => None,
    }
}
