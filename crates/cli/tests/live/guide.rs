//! The README and the guide: every console sample prints what the page says, and every Python program runs.
//! `RETAKE_WRITE_GUIDE=1` writes the program's present output into the pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::harness::{World, error, out};
use super::owned::Serving;

/// The guide reader's folder.
const FOLDER: &str = "/home/ada/project";

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let all = fs::read_dir(root.join("docs/guide")).expect("the guide");
    let mut pages: Vec<PathBuf> = all.map(|entry| entry.expect("an entry").path()).collect();
    pages.push(root.join("README.md"));
    pages.sort();
    pages
}

/// With the program as `retake`, and its data in the usual place.
fn reader() -> World {
    let world = World::working(&[]);
    let data = world.home().join(".local/share/retake");
    let program = Path::new(env!("CARGO_BIN_EXE_retake")).parent().expect("a folder").display();
    let path = std::env::var("PATH").expect("a PATH");
    world.with_data(&data).with("PATH", &format!("{program}:{path}"))
}

/// Runs a program of a page like its reader; returns its output.
fn prints(world: &World, program: &[&str]) -> String {
    let usual = world.command(&[]);
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).current_dir(world.folder()).stdin(std::process::Stdio::null());
    for (name, value) in usual.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command.output().expect("it starts");
    let folder = world.folder().display().to_string();
    (out(&output) + &error(&output)).replace(&folder, FOLDER)
}

/// The samples of a page with their present output.
fn page_now(text: &str) -> String {
    let world = reader();
    let mut now = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        now += line;
        now.push('\n');
        if line != "```console" {
            continue;
        }
        while let Some(line) = lines.next_if(|line| *line != "```") {
            let Some(command) = line.strip_prefix("$ ") else { continue };
            let printed = prints(&world, &["sh", "-c", &format!("{{ {command}; }} 2>&1")]);
            now += &format!("{line}\n{printed}");
            if !now.ends_with('\n') {
                now.push('\n');
            }
        }
    }
    now
}

/// Ids differ from run to run.
fn without_ids(text: &str) -> String {
    // A short form may end anywhere.
    let is_id = |word: &str| {
        let hex = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        let begins = word.split_once('-').is_some_and(|(first, _)| first.len() == 8);
        word.len() >= 13 && begins && word.split('-').all(hex)
    };
    let parts = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let masked = parts.map(|part| {
        let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        if is_id(word) { format!("ID{}", &part[word.len()..]) } else { part.to_owned() }
    });
    masked.collect()
}

#[test]
fn console_samples_print_what_the_guide_says() {
    for path in pages() {
        let text = fs::read_to_string(&path).expect("a page");
        let now = page_now(&text);
        if without_ids(&now) == without_ids(&text) {
            continue;
        }
        if std::env::var_os("RETAKE_WRITE_GUIDE").is_some() {
            fs::write(&path, now).expect("written");
            continue;
        }
        let page = path.display();
        same_lines(
            &without_ids(&text),
            &without_ids(&now),
            &format!("{page}: RETAKE_WRITE_GUIDE=1 writes it"),
        );
    }
}

fn same_lines(said: &str, now: &str, page: &str) {
    for (number, (said, now)) in (1..).zip(said.lines().zip(now.lines())) {
        assert_eq!(said, now, "line {number} of {page}");
    }
    assert_eq!(said.lines().count(), now.lines().count(), "{page}");
}

#[test]
fn python_programs_of_the_guide_run() {
    for path in pages() {
        let text = fs::read_to_string(&path).expect("a page");
        for block in text.split("```python\n").skip(1) {
            let (program, _) = block.split_once("\n```").expect("the end of a block");
            let world = reader();
            let serving = Serving::start(&world, &["--listen", "127.0.0.1:0"]);
            let address =
                serving.said.iter().find_map(|line| line.split("http://").nth(1)).expect("an address");
            let address =
                address.split(|c: char| !c.is_ascii_digit() && c != '.' && c != ':').next().expect("it");
            let program = program.replace("127.0.0.1:4117", address);
            let printed = prints(&world, &["python3", "-c", &program]);
            for expected in [
                "6 × 7 = 42",
                "takes back 2 messages",
                "to edit: what is 6 times 7",
                "brought back 2 messages",
            ] {
                assert!(printed.contains(expected), "{}: {printed}", path.display());
            }
            world.does(&["stop"]);
            assert!(serving.ended());
        }
    }
}

#[test]
fn links_of_the_documents_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = 0;
    let others = [
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "GLOSSARY.md",
        "ARCHITECTURE.md",
        "docs/SUMMARY.md",
        "docs/security.md",
        "docs/themes.md",
    ];
    for path in pages().into_iter().chain(others.map(|name| root.join(name))) {
        let text = fs::read_to_string(&path).expect("a page");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or_default();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            let target = path.parent().expect("a folder").join(file);
            assert!(target.exists(), "{}: {link} leads nowhere", path.display());
            found += 1;
        }
    }
    assert!(found > 30, "the links are found: {found}");
    let summary = fs::read_to_string(root.join("docs/SUMMARY.md")).expect("the summary");
    for page in pages().iter().filter(|page| page.parent().is_some_and(|folder| folder.ends_with("guide"))) {
        let name = page.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        assert!(summary.contains(&format!("](guide/{name})")), "docs/SUMMARY.md lacks {name}");
    }
}
