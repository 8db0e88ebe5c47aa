//! Maps the cases of the specs to the tests named after them. It reads `docs/spec`, and must never count a function that
//! no test run calls.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Context as _, ensure};

use crate::checkout::Checkout;
use crate::lex;
use crate::source::Source;

/// One spec with numbered cases.
struct Spec {
    file: &'static str,
    /// Tests of case 7 begin with `PREFIX_case_07_`; `None` if the tests come later.
    prefix: Option<&'static str>,
    /// The mark after a case's number.
    mark: &'static str,
    /// Whether every case must have a test by now; otherwise cases without one are listed as open.
    whole: bool,
}

/// The cases of a spec with a prefix are listed; those of the others are counted as open.
const SPECS: &[Spec] = &[
    Spec { file: "store.md", prefix: Some("store"), mark: ". ", whole: true },
    Spec { file: "rewind.md", prefix: Some("rewind"), mark: " ", whole: false },
    Spec { file: "playground.md", prefix: None, mark: " ", whole: false },
];

/// The cases of one spec and their tests.
#[derive(Debug)]
pub struct CaseMap {
    file: &'static str,
    begun: bool,
    whole: bool,
    cases: BTreeMap<u32, BTreeSet<String>>,
    later: usize,
    wrong: Vec<String>,
}

impl CaseMap {
    /// Whether every case that must have a test has one, and every test names a case.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.wrong.is_empty() && !(self.whole && self.cases.values().any(BTreeSet::is_empty))
    }
}

/// The maps of all specs.
///
/// # Errors
/// A spec is missing in `docs/spec`, or has no cases.
pub fn case_map(tree: &Checkout) -> anyhow::Result<Vec<CaseMap>> {
    let mut maps = Vec::new();
    for spec in SPECS {
        let path = format!("docs/spec/{}", spec.file);
        let text = tree.text(&path).with_context(|| format!("cannot read the cases of {path}"))?;
        let numbers = cases(&text, spec.mark);
        ensure!(!numbers.is_empty(), "{} has no numbered cases below a heading that names them", spec.file);
        maps.push(map(spec, &numbers, &tree.sources));
    }
    Ok(maps)
}

/// The maps for people: each case with its tests or `OPEN`, then the errors.
#[must_use]
pub fn report(maps: &[CaseMap]) -> String {
    let mut text = String::new();
    for map in maps {
        render(&mut text, map).expect("BUG: writing to a string cannot fail");
    }
    text
}

fn render(text: &mut String, map: &CaseMap) -> std::fmt::Result {
    if !map.begun {
        return writeln!(text, "{}: {} cases, OPEN (a later part)", map.file, map.later);
    }
    let met = map.cases.values().filter(|tests| !tests.is_empty()).count();
    writeln!(text, "{}: {met} of {} cases are tests", map.file, map.cases.len())?;
    for (case, tests) in &map.cases {
        let tests: Vec<_> = tests.iter().map(String::as_str).collect();
        let shown = if tests.is_empty() { "OPEN".to_owned() } else { tests.join(", ") };
        writeln!(text, "  {case:>2}  {shown}")?;
    }
    for wrong in &map.wrong {
        writeln!(text, "  wrong: {wrong}")?;
    }
    Ok(())
}

fn map(spec: &Spec, numbers: &[u32], sources: &[Source]) -> CaseMap {
    let mut map = CaseMap {
        file: spec.file,
        begun: spec.prefix.is_some(),
        whole: spec.whole,
        cases: BTreeMap::new(),
        later: numbers.len(),
        wrong: Vec::new(),
    };
    let Some(prefix) = spec.prefix else {
        return map;
    };
    map.cases = numbers.iter().map(|n| (*n, BTreeSet::new())).collect();
    let start = format!("{prefix}_case_");
    for (name, uses) in named(&start, sources) {
        let covered = covered(&name[start.len()..]);
        if covered.is_empty() {
            map.wrong.push(format!("{name}: name it `{start}NN_what`, two digits"));
        } else if !uses.runs() {
            map.wrong.push(format!("{name}: nothing runs it; make it a test or put it on the suite's list"));
        }
        for case in covered {
            match map.cases.get_mut(&case) {
                Some(tests) if uses.runs() => drop(tests.insert(name.clone())),
                Some(_) => {}
                None => map.wrong.push(format!("{name}: {} has no case {case}", spec.file)),
            }
        }
    }
    map
}

/// The numbers of the cases in the section with this heading. They count 1, 2, 3 … from each heading in it, and several
/// may be on one line.
fn cases(text: &str, mark: &str) -> Vec<u32> {
    let is_cases = |line: &str| line.starts_with("## ") && line.to_lowercase().contains("cases");
    let mut lines = text.lines().skip_while(|line| !is_cases(line)).skip(1);
    let mut numbers = Vec::new();
    let mut part = String::new();
    loop {
        let line = lines.next().filter(|line| !line.starts_with("## "));
        if line.is_none_or(|line| line.starts_with("### ")) {
            numbers.extend(1..=count(&part, mark));
            part.clear();
        }
        let Some(line) = line else {
            return numbers;
        };
        part.push('\n');
        part.push_str(line);
    }
}

fn count(part: &str, mark: &str) -> u32 {
    let mut rest = part;
    let mut last = 0;
    while let Some(at) = next_case(rest, last + 1, mark) {
        last += 1;
        rest = &rest[at..];
    }
    last
}

/// The position after the number of the case, at the start of a line or of a sentence.
fn next_case(rest: &str, number: u32, mark: &str) -> Option<usize> {
    let words = format!("{number}{mark}");
    rest.match_indices(&words)
        .find(|(at, _)| {
            let before = &rest[..*at];
            before.trim_end_matches(' ').ends_with('\n') || before.ends_with([' ']) && ends_sentence(before)
        })
        .map(|(at, words)| at + words.len())
}

fn ends_sentence(before: &str) -> bool {
    before.trim_end().ends_with(['.', ';', ':', ')'])
}

/// The uses of a function's name in the workspace.
#[derive(Default)]
struct Uses {
    tested: bool,
    mentioned: bool,
}

impl Uses {
    /// Whether a test run calls it: it is a test itself, or a function that a suite lists.
    fn runs(&self) -> bool {
        self.tested || self.mentioned
    }
}

/// Functions whose names have this prefix, in any crate.
fn named(start: &str, sources: &[Source]) -> BTreeMap<String, Uses> {
    let mut defined: BTreeMap<String, Uses> = BTreeMap::new();
    let mut mentioned = BTreeSet::new();
    for source in sources {
        let code = &source.all().code;
        for (at, _) in code.match_indices(start) {
            if code[..at].ends_with(lex::is_word) {
                continue;
            }
            let end = code[at..].find(|c| !lex::is_word(c)).map_or(code.len(), |len| at + len);
            let name = code[at..end].to_owned();
            match code[..at].strip_suffix("fn ") {
                Some(before) => defined.entry(name).or_default().tested |= is_tested(before),
                None => drop(mentioned.insert(name)),
            }
        }
    }
    for (name, uses) in &mut defined {
        uses.mentioned = mentioned.contains(name);
    }
    defined
}

/// Whether the attributes that end here make a test.
fn is_tested(before: &str) -> bool {
    let item = before.rfind(['}', ';', '{']).map_or(before, |at| &before[at..]);
    item.contains("#[test]") || item.contains("::test]") || item.contains("::test(")
}

/// The cases of `18_and_19_what`.
fn covered(rest: &str) -> Vec<u32> {
    let mut cases = Vec::new();
    let mut rest = rest;
    while let Some((digits, after)) = rest.split_once('_') {
        let two = digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit());
        let Some(case) = digits.parse().ok().filter(|_| two && !after.is_empty()) else {
            break;
        };
        cases.push(case);
        let Some(more) = after.strip_prefix("and_") else {
            break;
        };
        rest = more;
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::{Spec, cases, covered, map, report};
    use crate::source::Source;

    const SPEC: &str = "# A\n1. no case\n## Cases\n\nHeading line.\n\n1. say 1 2 3, hide 2. It is gone.\n\
                        2. seq 3; more\n3. image. 4. clock runs\n## Next\n5. no case\n";

    fn mapped(text: &str) -> (bool, String) {
        let spec = Spec { file: "a.md", prefix: Some("a"), mark: ". ", whole: true };
        let sources = [Source::new("crates/x/src/a.rs", text)];
        let map = map(&spec, &[1, 2], &sources);
        (map.is_met(), report(&[map]))
    }

    #[test]
    fn cases_are_read_in_order() {
        assert_eq!(cases(SPEC, ". "), [1, 2, 3, 4]);
        assert_eq!(cases("## 2. Some cases\n### a\n 1 x 2\n 2 y. 3 z\n### b\n 1 z\n", " "), [1, 2, 3, 1]);
        assert!(cases("# none\n", ". ").is_empty());
    }

    #[test]
    fn a_case_is_met_by_a_test_of_its_name() {
        let test = "#[test]\nfn a_case_01_x() {}\n#[tokio::test]\nasync fn a_case_02_y() {}";
        let (met, text) = mapped(test);
        assert!(met, "{text}");
        assert_eq!(text, "a.md: 2 of 2 cases are tests\n   1  a_case_01_x\n   2  a_case_02_y\n");
    }

    #[test]
    fn a_listed_function_is_a_test() {
        let (met, text) = mapped("suite!(a_case_01_and_02_x);\npub async fn a_case_01_and_02_x() {}");
        assert!(met, "{text}");
    }

    #[test]
    fn what_is_open_or_wrong_is_said() {
        let rows = [
            ("#[test]\nfn a_case_01_x() {}", "   2  OPEN"),
            ("#[test]\nfn a_case_01_x() {}\nfn a_case_02_y() {}", "a_case_02_y: nothing runs it"),
            ("// fn a_case_02_y\n#[test]\nfn a_case_01_x() {}", "   2  OPEN"),
            ("#[test]\nfn a_case_01_and_02_x() {}\n#[test]\nfn a_case_09_y() {}", "a.md has no case 9"),
            ("#[test]\nfn a_case_01_and_02_x() {}\n#[test]\nfn a_case_1_y() {}", "two digits"),
        ];
        for (text, says) in rows {
            let (met, said) = mapped(text);
            assert!(!met && said.contains(says), "{text}: {said}");
        }
    }

    #[test]
    fn names_tell_their_cases() {
        assert_eq!(covered("18_x"), [18]);
        assert_eq!(covered("18_and_19_x"), [18, 19]);
        assert_eq!(covered("26_10_000_hides"), [26]);
        assert_eq!(covered("21_and_back"), [21]);
        assert!(covered("7_x").is_empty());
        assert!(covered("07_").is_empty());
    }
}
