//! What Markdown becomes.

use super::super::parse;
use super::shown;

/// The source, and the text with its styles.
const ROWS: &[(&str, &str)] = &[
    ("", ""),
    ("plain", "plain"),
    ("one\ntwo  \nthree", "one\ntwo\nthree"),
    ("one\r\n\r\ntwo\rthree", "one\n\ntwo\nthree"),
    ("**b** *i* ~~s~~ `c`", "<b>b</b> <i>i</i> <s>s</s> <code>c</code>"),
    ("***both***", "<i><b>both</b></i>"),
    ("# A **b** c\ntext", "<b>A b c</b>\n\ntext"),
    ("A\n===\nb", "<b>A</b>\n\nb"),
    ("> a\n> b\n\nc", "<quote>a\nb</quote>\n\nc"),
    ("> a\n>> b", "<quote>a\n\n<quote>b</quote></quote>"),
    ("> - a\n> - b", "<quote>• a\n• b</quote>"),
    ("- a\n- b\n  - c\n    1. d\n    2. e\n- f", "• a\n• b\n  • c\n    1. d\n    2. e\n• f"),
    ("- a\n\n  more\n- b\n\nend", "• a\n\n  more\n\n• b\n\nend"),
    ("7. a\n8. b", "7. a\n8. b"),
    ("- - a", "• • a"),
    ("-\n- b", "•\n• b"),
    ("- ```rust\n  let a;\n  ```\n- b", "•\n<pre rust>let a;</pre>\n\n• b"),
    ("- > a\n- b", "•\n<quote>a</quote>\n\n• b"),
    ("- [x] done", "• [x] done"),
    ("a\n\n---\n\nb", "a\n\n──────────\n\nb"),
    ("```rust\nfn a() {\n    b\n}\n```\nend", "<pre rust>fn a() {\n    b\n}</pre>\n\nend"),
    ("```\n  a\n```", "<pre ->  a</pre>"),
    ("```rust,ignore title=\"a b\"\nx\n```", "rust,ignore title=\"a b\"\n<pre rust>x</pre>"),
    ("```rust\n```", "rust"),
    ("    indented\n    code", "<pre ->indented\ncode</pre>"),
    ("a <b>c</b> <!-- d -->", "a <b>c</b> <!-- d -->"),
    ("<div>\n  <p>a</p>\n</div>\n\nb", "<div>\n  <p>a</p>\n</div>\n\nb"),
    ("&amp; &lt;b&gt; \\*a\\*", "& <b> *a*"),
];

#[test]
fn markdown_becomes_text_with_styles() {
    for (source, expected) in ROWS {
        assert_eq!(shown(&parse(source)), *expected, "{source}");
    }
}

#[test]
fn only_safe_links_become_links_and_others_are_shown_as_written() {
    let rows = [
        ("[a](https://b.example)", "<a https://b.example>a</a>"),
        ("[**a**](https://b.example)", "<a https://b.example><b>a</b></a>"),
        ("[a](https://b.example \"t\")", "<a https://b.example>a</a> (t)"),
        ("[](https://b.example)", "<a https://b.example>https://b.example</a>"),
        ("<https://b.example>", "<a https://b.example>https://b.example</a>"),
        ("<a@b.example>", "<a mailto:a@b.example>a@b.example</a>"),
        ("[a](tg://user?id=1)", "[a](tg://user?id=1)"),
        ("[*a*](tg://user?id=1 \"t\") b", "[<i>a</i>](tg://user?id=1 \"t\") b"),
        ("[](tg://user)", "[](tg://user)"),
        ("<tg://user>", "<tg://user>"),
        ("![a](https://b.example/c.png)", "<a https://b.example/c.png>a</a>"),
        ("![](https://b.example/c.png)", "<a https://b.example/c.png>https://b.example/c.png</a>"),
        ("![a](file:c.png)", "![a](file:c.png)"),
        ("[![a](https://i.example)](https://b.example)", "<a https://b.example>a (https://i.example)</a>"),
        ("@everyone <!channel> <@U1> @room", "@everyone <!channel> <@U1> @room"),
    ];
    for (source, expected) in rows {
        assert_eq!(shown(&parse(source)), expected, "{source}");
    }
}

#[test]
fn definitions_are_shown_unless_a_link_shows_them() {
    let rows = [
        ("[a][b]\n\n[b]: https://c.example", "<a https://c.example>a</a>"),
        ("[b]: https://c.example\n\n[B] d", "<a https://c.example>B</a> d"),
        ("[b]: https://c.example \"t\"\n\nd", "[b]: https://c.example \"t\"\n\nd"),
        ("d\n\n[b]: https://c.example", "d\n\n[b]: https://c.example"),
        ("a[^1]\n\n[^1]: Note", "a[^1]\n\n[^1]: Note"),
        (
            "[a]: https://b.example\n[a]: https://c.example\n\n[a]",
            "[a]: https://c.example\n\n<a https://b.example>a</a>",
        ),
        ("> [b]: /c\n> d", "<quote>[b]: /c\n\nd</quote>"),
        ("- [b]: /c\n- d", "• [b]: /c\n\n• d"),
    ];
    for (source, expected) in rows {
        assert_eq!(shown(&parse(source)), expected, "{source}");
    }
}

#[test]
fn tables_become_columns_of_fixed_width() {
    let source =
        "a\n\n| Name | 数 |\n|--|--|\n| **x** | 1 |\n| [y](https://z.example) | 日本 | over |\n| `q` |\n\nb";
    let expected = "a\n\n<pre ->Name                  | 数   |\n----------------------+------+-----\n\
                    x                     | 1\ny (https://z.example) | 日本 | over\nq</pre>\n\nb";
    let drawn = shown(&parse(source)).lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(drawn, expected.replace("数   |", "数"));
}

#[test]
fn long_cells_and_many_columns_do_not_grow_a_table() {
    let long = "x".repeat(5000);
    let mut source = format!("|a|b|\n|-|-|\n|{long}|1|\n");
    source.push_str(&"|a|b|\n".repeat(500));
    assert!(parse(&source).text.len() < 3 * source.len());
    let mut wide = "|a".repeat(2000) + "\n" + &"|-".repeat(2000) + "\n";
    wide.push_str(&"|b\n".repeat(2000));
    assert!(parse(&wide).text.len() < 3 * wide.len());
}

#[test]
fn deep_nesting_does_not_grow_a_text() {
    let parts = [
        "- ",
        "> ",
        "1. ",
        "**a ",
        "*a ",
        "![",
        "[a](tg://b ",
        "~~a ",
        "<!--",
        "`` ` ",
        "|a|\n|-|\n",
        "[a]: b\n",
    ];
    for part in parts {
        let source = part.repeat(5000);
        let text = parse(&source).text;
        assert!(text.len() < 4 * source.len() + 100, "{part}: {}", text.len());
    }
    let lines_of_the_deepest_item = "- ".repeat(1000) + &"b\n".repeat(1000);
    assert!(parse(&lines_of_the_deepest_item).text.len() < 30_000);
}
