//! The measurements, for people and for programs. Measures nothing.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Operations that must not get slower with the length of the conversation.
const CONSTANT: [&str; 4] = ["rewind_us", "undo_us", "fork_us", "hide_us"];

/// The measurements of one run, in display order.
#[derive(Debug, Default)]
pub(crate) struct Report(Vec<(Cow<'static, str>, Value)>);

impl Report {
    /// Adds a whole number.
    pub(crate) fn count(&mut self, name: &'static str, value: u64) {
        self.0.push((name.into(), value.into()));
    }

    /// Adds a measurement, with three decimals.
    pub(crate) fn measure(&mut self, name: &'static str, value: f64) {
        self.add(name, value);
    }

    /// Adds a measurement under a computed name, with three decimals.
    pub(crate) fn add(&mut self, name: impl Into<Cow<'static, str>>, value: f64) {
        self.0.push((name.into(), Value::from((value * 1e3).round() / 1e3)));
    }

    /// Adds a text.
    pub(crate) fn text(&mut self, name: &'static str, value: &str) {
        self.0.push((name.into(), value.into()));
    }

    /// Adds an entry without a measurement.
    pub(crate) fn missing(&mut self, name: &'static str) {
        self.0.push((name.into(), Value::Null));
    }

    /// Adds the lowest and the highest of some measurements to their summary.
    pub(crate) fn spread(&mut self, spread: Map<String, Value>) {
        self.0.push(("spread".into(), Value::Object(spread)));
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// One JSON object.
    pub(crate) fn json(&self) -> Value {
        Value::Object(self.0.iter().map(|(name, value)| (name.to_string(), value.clone())).collect())
    }

    /// The duration of an operation relative to `first`.
    fn ratio(&self, first: &Self, name: &str) -> Option<f64> {
        let (mine, other) = (self.get(name)?.as_f64()?, first.get(name)?.as_f64()?);
        Some((mine / other * 100.0).round() / 100.0)
    }
}

/// All runs, and how each compares with the first.
pub(crate) fn compared(reports: &[Report]) -> Value {
    let runs: Vec<Value> = reports.iter().map(Report::json).collect();
    let ratios: Vec<Value> = reports.iter().skip(1).map(|report| ratios(report, &reports[0])).collect();
    Value::from_iter([("runs", Value::from(runs)), ("ratios", Value::from(ratios))])
}

fn ratios(report: &Report, first: &Report) -> Value {
    let mut object = Map::new();
    object.extend(report.get("entries").map(|entries| ("entries".to_owned(), entries.clone())));
    for name in CONSTANT {
        object.extend(report.ratio(first, name).map(|ratio| (name.replace("_us", "_ratio"), ratio.into())));
    }
    Value::Object(object)
}

/// A column for each run; with several, the ratios that must stay small.
pub(crate) fn table(reports: &[Report]) -> String {
    let mut lines = Vec::new();
    let shown = reports.first().map_or(&[][..], |first| first.0.as_slice());
    for (name, _) in shown.iter().filter(|(_, value)| !value.is_object()) {
        let cells = reports.iter().map(|report| report.get(name).map(cell).unwrap_or_default());
        lines.push(line(name, cells));
    }
    for name in CONSTANT.iter().filter(|_| reports.len() > 1) {
        let cells = reports.iter().map(|report| {
            report.ratio(&reports[0], name).map(|ratio| format!("{ratio:.2}")).unwrap_or_default()
        });
        lines.push(line(&name.replace("_us", "_ratio"), cells));
    }
    lines.join("\n")
}

fn line(name: &str, cells: impl Iterator<Item = String>) -> String {
    cells.fold(format!("{name:<38}"), |line, cell| format!("{line}{cell:>16}"))
}

fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Report, compared, table};

    fn report(entries: u64, rewind: f64) -> Report {
        let mut report = Report::default();
        report.count("entries", entries);
        report.measure("rewind_us", rewind);
        report
    }

    #[test]
    fn ratios_are_against_the_first_run() {
        let reports = [report(1000, 200.0), report(1_000_000, 250.0)];
        let ratios = &compared(&reports)["ratios"];
        assert_eq!(ratios.to_string(), r#"[{"entries":1000000,"rewind_ratio":1.25}]"#);
        assert!(table(&reports).lines().any(|line| line.ends_with("1.25")), "{}", table(&reports));
    }
}
