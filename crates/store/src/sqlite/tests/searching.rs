//! Tests of the full-text index: its hits, their order, and how little is read.

use retake_core::{Role, SearchRequest, Sort, Time};

use super::files::{older_format, raw};
use super::kit::{Kit, NOW, conversation, found, open, said, say, word};
use crate::query::{Clause, Query, Term};
use crate::rows::{Key, LogNo, Rows as _};
use crate::sqlite::schema::CUT;

fn term(words: &[&str], prefix: bool) -> Term {
    Term { words: words.iter().map(|word| (*word).to_owned()).collect(), prefix }
}

fn clause(must: Vec<Term>, not: Vec<Term>) -> Clause {
    let items = |terms: Vec<Term>| terms.into_iter().map(Into::into).collect();
    Clause { must: items(must), not: items(not) }
}

/// Two conversations; the texts of the first, and one of the second.
fn kit() -> Kit {
    let mut kit = Kit::new();
    kit.commit(|rows| {
        let first = conversation(rows, 1);
        let texts =
            ["the red fox", "a fox and a fox; red", "Äpfel und Birnen", "你好世界", "redness (foxes)"];
        let entries: Vec<_> = (1..).zip(texts).map(|(seq, text)| said(seq, text)).collect();
        say(rows, &first, &entries);
        let second = conversation(rows, 2);
        let mut entry = said(1, "a fox elsewhere");
        entry.meta.role = Role::Assistant;
        entry.meta.time = Time(NOW.0);
        entry.author = "demo".into();
        say(rows, &second, &[entry]);
    });
    kit
}

fn sorted(sort: Sort) -> SearchRequest {
    SearchRequest { sort, ..SearchRequest::default() }
}

fn seqs(keys: &[Key]) -> Vec<(i64, u64)> {
    keys.iter().map(|key| (key.log.0, key.seq)).collect()
}

#[test]
fn words_phrases_prefixes_and_operators() {
    let kit = kit();
    let one = |must, not| Query { any: vec![clause(must, not)], verbatim: None, only_excludes: false };
    let fox = || term(&["fox"], false);
    let rows: Vec<(Query, &[u64])> = vec![
        (one(vec![fox()], vec![]), &[1, 2]),
        (one(vec![term(&["red", "fox"], false)], vec![]), &[1]),
        (one(vec![term(&["fox"], true)], vec![]), &[1, 2, 5]),
        (one(vec![fox()], vec![term(&["the"], false)]), &[2]),
        (one(vec![fox(), term(&["und"], false)], vec![]), &[]),
        (one(vec![term(&["apfel"], false)], vec![]), &[3]),
        (one(vec![term(&["好"], false)], vec![]), &[4]),
        (one(vec![term(&["好", "世"], false)], vec![]), &[4]),
        (one(vec![term(&["世", "好"], false)], vec![]), &[]),
        (one(vec![], vec![fox()]), &[]),
        (Query::default(), &[]),
        (
            Query {
                any: vec![
                    clause(vec![term(&["birnen"], false)], vec![]),
                    clause(vec![term(&["redness"], false)], vec![]),
                ],
                verbatim: None,
                only_excludes: false,
            },
            &[3, 5],
        ),
    ];
    let within = [(LogNo(1), 1, 5)];
    for (query, expected) in rows {
        let keys = found(&kit.store.writer, &query, &sorted(Sort::Oldest), Some(&within));
        let keys: Vec<u64> = keys.iter().map(|key| key.seq).collect();
        assert_eq!(keys, expected, "{query:?}");
    }
}

#[test]
fn orders() {
    let kit = kit();
    let find =
        |sort, within: Option<&[_]>| seqs(&found(&kit.store.writer, &word("fox"), &sorted(sort), within));
    let one = [(LogNo(1), 1, 5)];
    assert_eq!(find(Sort::Newest, Some(&one)), [(1, 2), (1, 1)]);
    assert_eq!(find(Sort::Newest, None), [(1, 2), (1, 1), (2, 1)]);
    assert_eq!(find(Sort::Oldest, None), [(2, 1), (1, 1), (1, 2)]);
    assert_eq!(find(Sort::Rank, Some(&one)), [(1, 2), (1, 1)]);
    assert_eq!(find(Sort::Rank, None)[0], (1, 2));
}

#[test]
fn search_looks_only_within_the_given_ranges_and_filters() {
    let kit = kit();
    let find = |request: &SearchRequest, within: Option<&[_]>| {
        let mut keys = seqs(&found(&kit.store.writer, &word("fox"), request, within));
        keys.sort_unstable();
        keys
    };
    let plain = SearchRequest::default();
    assert_eq!(find(&plain, Some(&[])), []);
    assert_eq!(find(&plain, Some(&[(LogNo(1), 2, 9)])), [(1, 2)]);
    let apart = [(LogNo(2), 1, 1), (LogNo(1), 3, 9), (LogNo(1), 1, 1)];
    assert_eq!(find(&plain, Some(&apart)), [(1, 1), (2, 1)]);
    let filters = [
        SearchRequest { role: Some(Role::Assistant), ..plain.clone() },
        SearchRequest { source: Some("demo".into()), ..plain.clone() },
        SearchRequest { to: Some(Time(NOW.0 + 1)), ..plain.clone() },
        SearchRequest { not_source: vec!["nobody".into(), "mia".into()], ..plain.clone() },
    ];
    for request in filters {
        assert_eq!(find(&request, None), [(2, 1)], "{request:?}");
    }
    let late = SearchRequest { from: Some(Time(NOW.0 + 2)), ..plain };
    assert_eq!(find(&late, None), [(1, 2)]);
}

#[test]
fn search_stops_when_its_visitor_stops() {
    let kit = kit();
    for sort in [Sort::Rank, Sort::Newest, Sort::Oldest] {
        let mut seen = 0;
        let mut visit = |_| {
            seen += 1;
            Ok(false)
        };
        kit.store.writer.search(&word("fox"), &sorted(sort), None, &mut visit).unwrap();
        assert_eq!(seen, 1);
    }
}

#[test]
fn trial_14_pasted_text_is_found_and_parentheses_reach_the_index() {
    let texts = [
        "then rm -rf build, and go on",
        "tar -xzf a.tar.gz || exit",
        "IS NOT NULL AND (c OR NOT d)",
        "ผมอยู่ที่กรุงเทพมหานคร",
        "x y z",
    ];
    let mut kit = Kit::new();
    kit.commit(|rows| {
        let conversation = conversation(rows, 1);
        let entries: Vec<_> = (1..).zip(texts).map(|(seq, text)| said(seq, text)).collect();
        say(rows, &conversation, &entries);
    });
    let find = |typed: &str| {
        let keys = found(&kit.store.writer, &Query::parse(typed).0, &sorted(Sort::Oldest), None);
        keys.iter().map(|key| key.seq).collect::<Vec<_>>()
    };
    let rows: [(&str, &[u64]); 9] = [
        ("rm -rf build", &[1]),
        ("tar -xzf", &[2]),
        ("IS NOT NULL AND (c OR NOT d)", &[3]),
        ("กรุงเทพ", &[4]),
        ("(rm OR tar) (gz OR build)", &[1, 2]),
        ("x NOT (y z)", &[]),
        ("x NOT (y a)", &[5]),
        ("(x OR is) NOT (null OR q)", &[5]),
        ("NOT (x y)", &[]),
    ];
    for (typed, expected) in rows {
        assert_eq!(find(typed), expected, "{typed}");
    }
    // The deepest nesting of a query.
    let deep = "x (y OR a NOT (b OR ".repeat(20);
    assert_eq!(find(&deep), [5], "{deep}");
    let long = format!("{} {}", "中".repeat(990), "a NOT b ");
    assert!(find(&long).is_empty());
}

#[test]
fn symbols_are_found_in_a_store_of_an_earlier_version() {
    // A program of that format indexed no symbols.
    let dir = older_format(12);
    let (before, now) = ("from the first days", "done 🎉 a→b");
    raw(
        &dir.path().join("retake.db"),
        &format!("UPDATE entry SET content = replace(content, '{before}', '{now}');"),
    );
    let store = open(dir.path()).unwrap();
    for typed in ["🎉", "→", "done 🎉", "a→b", "🎉 NOT ✗"] {
        let keys = found(&store.writer, &Query::parse(typed).0, &Default::default(), None);
        assert_eq!(keys.len(), 1, "{typed}");
    }
    for typed in ["🎊", "done NOT 🎉"] {
        let keys = found(&store.writer, &Query::parse(typed).0, &Default::default(), None);
        assert_eq!(keys.len(), 0, "{typed}");
    }
    assert_eq!(store.writer.check().unwrap().problems, vec![]);
}

#[test]
fn trial_14_full_text_index_of_an_earlier_version_is_rebuilt() {
    let dir = older_format(CUT - 1);
    let (before, now) = ("from the first days", "กรุงเทพมหานคร");
    raw(
        &dir.path().join("retake.db"),
        &format!(
            "UPDATE entry SET content = replace(content, '{before}', '{now}');
             INSERT INTO search (search, rowid, text) VALUES ('delete', 4294967297, '{before}');
             INSERT INTO search (rowid, text) VALUES (4294967297, '{now}');"
        ),
    );
    let store = open(dir.path()).unwrap();
    for typed in ["กรุงเทพ", "มหานคร"] {
        let keys = found(&store.writer, &Query::parse(typed).0, &Default::default(), None);
        assert_eq!(keys.len(), 1, "{typed}");
    }
    assert_eq!(store.writer.check().unwrap().problems, vec![]);
}
