//! Tests of the prompt: it stays the same, files are read with limits, and mentions are recognised.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::mpsc;
use std::time::Duration;

use retake_core::{Fact, Part, Permission, Rule, Ruling, Source, Time};
use retake_tools::{Guarded, Toolbox};

use super::*;
use crate::notice::{FileKind, Mentioned};

/// A folder `home/repo/sub` with a repository at `repo`, and a folder of settings.
struct World {
    _dir: tempfile::TempDir,
    places: Places,
    repo: PathBuf,
}

fn world() -> World {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let home = dir.path().canonicalize().expect("a path").join("home");
    let (repo, config) = (home.join("repo"), home.join("config"));
    for folder in [repo.join("sub"), repo.join(".git"), config.clone()] {
        fs::create_dir_all(folder).expect("a folder");
    }
    let places =
        Places { folder: repo.join("sub"), home: Some(home), config: Some(config), ..Places::default() };
    World { _dir: dir, places, repo }
}

fn write(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
    fs::write(path, bytes).expect("written");
}

fn fifo(path: &Path) {
    rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RUSR).expect("a pipe");
}

/// Fails if `work` blocks.
fn in_time<T: Send + 'static>(places: &Places, work: impl FnOnce(&Places) -> T + Send + 'static) -> T {
    let (tell, told) = mpsc::channel();
    let places = places.clone();
    std::thread::spawn(move || tell.send(work(&places)));
    told.recv_timeout(Duration::from_secs(20)).expect("in time")
}

fn texts(found: &[Instruction]) -> Vec<&str> {
    found.iter().map(|instruction| instruction.text.as_str()).collect()
}

#[test]
fn the_system_prompt_is_the_same_all_day_and_tells_no_time() {
    let began = |hour: i64| Time(1_763_769_600_000 + hour * 3_600_000);
    let (roots, tools) = ([PathBuf::from("/other")], Toolbox::default());
    let prompt = |hour| {
        let about = About { folder: Path::new("/work"), roots: &roots, began: began(hour), tools: &tools };
        system_prompt(Some("Be brief.\n"), Some(&about)).expect("a prompt")
    };
    assert_eq!(prompt(1), prompt(22));
    let told = prompt(1);
    assert!(told.starts_with("Be brief.\n\nYou are Retake, "), "{told}");
    for line in [
        "\nThe conversation's folder: /work\n",
        "\nA further folder of it: /other\n",
        "\nSystem: ",
        "\nThis conversation began on 2025-11-22.",
    ] {
        assert!(told.contains(line), "{line} {told}");
    }
    assert_eq!(system_prompt(Some("Be brief."), None).as_deref(), Some("Be brief."));
    assert_eq!(system_prompt(Some(" "), None), None);
}

#[test]
fn the_system_prompt_names_only_tools_that_are_present() {
    let prompt = |tools: &Toolbox| {
        let about = About { folder: Path::new("/work"), roots: &[], began: Time(0), tools };
        system_prompt(None, Some(&about)).expect("a prompt")
    };
    let named = ["`edit`", "`grep`", "`shell`", "`todo`", "`ask`", "Commit and push only when"];
    let mut tools = Toolbox::default();
    let without = prompt(&tools);
    assert!(!without.contains("- [") && named.iter().all(|name| !without.contains(name)), "{without}");
    let shell = retake_tools::shell_tools(retake_tools::ShellConfig::default());
    let own = [retake_tools::ask_tool(), retake_tools::todo_tool()];
    retake_tools::file_tools().into_iter().chain(shell).chain(own).for_each(|tool| assert!(tools.add(tool)));
    let with = prompt(&tools);
    assert!(!with.contains("- [") && named.iter().all(|name| with.contains(name)), "{with}");
    // Every name in it is that of a tool.
    let names = with.split('`').skip(1).step_by(2);
    names.for_each(|name| assert!(tools.get(name).is_some(), "{name}"));
}

#[test]
fn instruction_files_come_from_the_settings_down_to_the_folder() {
    let world = world();
    write(world.repo.join("AGENTS.md"), "repo");
    write(world.repo.join("CLAUDE.md"), "not read beside the other");
    write(world.repo.join("sub/CLAUDE.md"), "sub");
    write(world.repo.parent().expect("home").join("AGENTS.md"), "above the repository");
    write(world.places.config.as_ref().expect("settings").join("AGENTS.md"), "mine");
    assert_eq!(texts(&instructions(&world.places)), ["mine", "repo", "sub"]);
    fs::remove_dir(world.repo.join(".git")).expect("removed");
    assert_eq!(texts(&instructions(&world.places)), ["mine", "above the repository", "repo", "sub"]);
    // Without a repository and a home, files above the folder do not count.
    let places = Places { home: None, config: None, ..world.places.clone() };
    assert_eq!(texts(&instructions(&places)), ["sub"]);
}

#[test]
fn pipe_or_link_out_of_the_folder_is_no_instruction_file() {
    let world = world();
    let file = |name: &str| world.repo.join("sub").join(name);
    fifo(&file("AGENTS.md"));
    assert!(in_time(&world.places, instructions).is_empty());
    fs::remove_file(file("AGENTS.md")).expect("removed");
    let secret = world.places.home.as_ref().expect("home").join("secret");
    write(&secret, "hunter2");
    symlink(&secret, file("AGENTS.md")).expect("a link");
    assert!(instructions(&world.places).is_empty());
    fs::remove_file(file("AGENTS.md")).expect("removed");
    write(world.repo.join("CLAUDE.md"), "shared");
    symlink("../CLAUDE.md", file("AGENTS.md")).expect("a link");
    assert_eq!(texts(&instructions(&world.places)), ["shared", "shared"]);
    write(file("AGENTS.md"), [0, 1, 2]);
    assert!(texts(&instructions(&world.places)).is_empty());
}

#[test]
fn trial_23_a_link_to_what_is_not_of_the_folder_is_no_instruction_and_no_mention() {
    let world = world();
    let home = world.places.home.clone().expect("home");
    fs::remove_dir(world.repo.join(".git")).expect("removed");
    fs::create_dir(home.join(".ssh")).expect("made");
    write(home.join(".ssh/id"), "hunter2");
    write(home.join("diary"), "hunter2");
    let guarded = Arc::new(Guarded::new(&[], Some(&home), []).expect("items"));
    let places = Places { guarded, ..world.places.clone() };
    for to in [".ssh/id", "diary"] {
        let [file, link] = ["AGENTS.md", "doc"].map(|name| places.folder.join(name));
        symlink(home.join(to), &file).expect("a link");
        symlink(home.join(to), &link).expect("a link");
        assert!(instructions(&places).is_empty(), "{to}");
        let (attached, notices) = mentioned(&places, "@doc");
        assert!(attached.is_empty(), "{to}: {attached:?}");
        let outcome = match to {
            "diary" => Mentioned::LeadsOut(home.join(to)),
            _ => Mentioned::LeadsToSecret(home.join(to)),
        };
        assert_eq!(notices, [("doc".to_owned(), outcome)]);
        let (attached, _) = mentioned(&places, &format!("@~/{to}"));
        assert_eq!(attached.len(), 1, "who names it means it");
        [file, link].iter().for_each(|link| fs::remove_file(link).expect("removed"));
    }
}

#[test]
fn a_huge_file_is_cut_and_says_so_and_the_nearest_has_the_room() {
    let world = world();
    let huge = fs::File::create(world.repo.join("sub/AGENTS.md")).expect("a file");
    fs::write(world.repo.join("sub/AGENTS.md"), "ä".repeat(20_000)).expect("written");
    huge.set_len(5 << 30).expect("a hole");
    // Holes are no text; the read limit ends before them.
    write(world.repo.join("AGENTS.md"), "far");
    let found = in_time(&world.places, instructions);
    let near = found.last().expect("the nearest");
    assert_eq!((near.text.len(), near.cut), (32_000, (5 << 30) - 32_000));
    assert_eq!((found[0].text.as_str(), found[0].cut), ("", 3));
    let Some(Part::Text(told)) = due(&found, &[]).and_then(|parts| parts.into_iter().next()) else {
        panic!("nothing is due")
    };
    assert!(told.contains("[3 bytes of it are left out here"), "{}", &told[..200]);
}

#[test]
fn a_version_is_reported_once_and_what_changes_or_goes_is_reported_again() {
    let file = |name: &str, text: &str| Instruction { path: name.into(), text: text.into(), cut: 0 };
    let told = |current: &[Instruction], given: &[Fact]| {
        let parts = due(current, given)?;
        let Some((Part::Facts(facts), texts)) = parts.split_last() else { panic!("{parts:?}") };
        let texts: Vec<_> = texts.iter().map(|part| part.as_text().expect("a text")).collect();
        Some((texts.join("\n\n"), facts.clone()))
    };
    assert_eq!(told(&[], &[]), None);
    let (text, first) = told(&[file("/a", "one\n"), file("/b", "two")], &[]).expect("due");
    assert_eq!(text, "/a says:\n\none\n\n/b says:\n\ntwo");
    assert_eq!(
        first.iter().map(|fact| fact.key.as_str()).collect::<Vec<_>>(),
        ["instructions//a", "instructions//b"]
    );
    assert_eq!(told(&[file("/a", "one\n"), file("/b", "two")], &first), None);
    let (text, second) = told(&[file("/a", "three")], &first).expect("due");
    assert_eq!(text, "/b is gone: what it said no longer holds.\n\n/a has changed. It now says:\n\nthree");
    assert_eq!(told(&[file("/a", "three")], &second), None);
    // A file that comes back is reported again.
    assert!(told(&[file("/a", "three"), file("/b", "two")], &second).is_some());
}

#[test]
fn a_version_that_an_earlier_program_recorded_is_not_reported_again() {
    let file = |text: &str| [Instruction { path: "/a".into(), text: text.into(), cut: 0 }];
    let recorded = [Fact::new("instructions//a", "01804022311fc1c7b02119be4efb5555")];
    assert_eq!(due(&file("one\n"), &recorded), None);
    assert!(due(&file("two\n"), &recorded).is_some());
}

/// A job of the agent can replace a file by a link after the check.
#[test]
fn trial_23_a_path_into_which_a_link_has_come_since_is_not_read() {
    let world = world();
    let secret = world.places.home.as_ref().expect("home").join("secret");
    write(&secret, "hunter2");
    let (link, folder) = (world.repo.join("sub/doc"), world.repo.join("docs"));
    symlink(&secret, &link).expect("a link");
    symlink(world.places.home.as_ref().expect("home"), &folder).expect("a link");
    for path in [link, folder.join("secret")] {
        let why = bounded_read::beginning(&path, 100).err().expect("it is another file").to_string();
        assert!(why.contains("elsewhere"), "{why}");
    }
    assert_eq!(bounded_read::beginning(&secret, 100).expect("it is there").bytes, b"hunter2");
}

/// Piped text may be anybody's: a log, a page, the output of a build.
#[test]
fn trial_23_words_from_a_pipe_attach_no_file() {
    let world = world();
    write(world.repo.join("sub/notes.txt"), "mine");
    let (said, notices) = mentions(vec![Part::text("see @notes.txt"), piped()], &world.places);
    let notices = outcomes(notices);
    assert_eq!(said, [Part::text("see @notes.txt")], "the mark is gone, and nothing is attached");
    assert_eq!(notices, [("notes.txt".to_owned(), Mentioned::Piped)]);
    let (said, _) = mentions(vec![Part::text("see @notes.txt")], &world.places);
    assert_eq!(said.len(), 3, "who types it means it: the file, and the fact that it is read");
}

/// The result of each mention, by name.
fn outcomes(notices: Vec<Notice>) -> Vec<(String, Mentioned)> {
    let one = |notice| match notice {
        Notice::Mention(name, outcome) => (name, outcome),
        other => panic!("no mention: {other:?}"),
    };
    notices.into_iter().map(one).collect()
}

/// The attachments of a message, by name or kind, and the results of the other mentions.
fn mentioned(places: &Places, text: &str) -> (Vec<String>, Vec<(String, Mentioned)>) {
    let (parts, notices) = mentions(vec![Part::text(text)], places);
    assert_eq!(parts[0], Part::text(text));
    let shown = parts[1..].iter().filter(|part| !matches!(part, Part::Facts(_))).map(|part| match part {
        Part::File { name, media_type: Some(pdf), .. } if pdf == "application/pdf" => {
            format!("{name}: {pdf}")
        }
        Part::File { name, source: Source::Inline(bytes), .. } => {
            format!("{name}={}", String::from_utf8_lossy(bytes).trim_end())
        }
        Part::Image { media_type, .. } => media_type.clone(),
        other => format!("{other:?}"),
    });
    (shown.collect(), outcomes(notices))
}

#[test]
fn a_whole_attached_file_counts_as_read_and_nothing_else_does() {
    let World { _dir, places, repo } = world();
    let places = Places { roots: vec![places.folder.clone()], ..places };
    write(repo.join("sub/a.txt"), "A");
    write(repo.join("sub/huge.txt"), "x".repeat(70_000));
    write(repo.join("up.txt"), "U");
    let read = |text: &str| {
        let keys = match mentions(vec![Part::text(text)], &places).0.pop() {
            Some(Part::Facts(facts)) => facts.into_iter().map(|fact| fact.key).collect(),
            _ => Vec::new(),
        };
        keys.iter().map(|key| key.replace(&format!("read/{}/", repo.display()), "")).collect::<Vec<_>>()
    };
    assert_eq!(read("@a.txt and @../up.txt"), ["sub/a.txt", "up.txt"]);
    assert!(read("@. and @huge.txt and @missing").is_empty());
}

#[test]
fn instruction_files_of_subfolders_count_with_the_same_trust() {
    let world = world();
    let sub = |path: &str| world.repo.join("sub").join(path);
    for folder in ["a/b", "c", "linked"] {
        fs::create_dir_all(sub(folder)).expect("made");
    }
    write(sub("AGENTS.md"), "the folder's own");
    write(sub("a/AGENTS.md"), "of a");
    write(sub("a/b/CLAUDE.md"), "of b");
    fifo(&sub("c/AGENTS.md"));
    write(world.places.home.as_ref().expect("home").join("secret"), "hunter2");
    symlink(world.places.home.as_ref().expect("home").join("secret"), sub("linked/AGENTS.md"))
        .expect("a link");
    fs::create_dir(world.places.home.as_ref().expect("home").join("other")).expect("made");
    write(world.places.home.as_ref().expect("home").join("other/AGENTS.md"), "elsewhere");
    symlink(world.places.home.as_ref().expect("home").join("other"), sub("out")).expect("a link");
    let found = |paths: &[&str]| {
        let folders = paths.iter().flat_map(|path| folders_below(&world.places.folder, &sub(path))).collect();
        in_time(&world.places, move |places| nested(places, &folders))
    };
    assert_eq!(texts(&found(&["a/b/file", "a/file"])), ["of a", "of b"]);
    assert_eq!(texts(&found(&["a"])), ["of a"]);
    assert!(found(&["file", "", "../up", "a/../../x/file", "c/file", "linked/file", "out/file"]).is_empty());
}

#[test]
fn a_mention_is_a_path_at_the_beginning_of_a_word() {
    let World { _dir, places, repo } = world();
    write(repo.join("sub/a.txt"), "A");
    write(repo.join("sub/b c.txt"), "B");
    write(repo.join("up.txt"), "U");
    write(repo.parent().expect("home").join("h.txt"), "H");
    let cases: [(&str, &[&str]); 16] = [
        ("look at @a.txt.", &["a.txt=A"]),
        ("@a.txt", &["a.txt=A"]),
        ("(see @a.txt), please", &["a.txt=A"]),
        ("@a.txt and @./a.txt twice", &["a.txt=A"]),
        ("@\"b c.txt\"!", &["b c.txt=B"]),
        ("@../up.txt", &["../up.txt=U"]),
        ("@~/h.txt", &["~/h.txt=H"]),
        ("me@a.txt", &[]),
        ("@", &[]),
        ("a @ b", &[]),
        ("`@a.txt`", &[]),
        ("```\n@a.txt\n```", &[]),
        ("> read @a.txt\n>\n> ```\n\nwhy?", &[]),
        ("> ```\n\nwhy @a.txt?", &["a.txt=A"]),
        ("@.", &["./=a.txt\nb c.txt"]),
        ("@../sub", &["../sub/=a.txt\nb c.txt"]),
    ];
    for (text, expected) in cases {
        let (attached, notices) = mentioned(&places, text);
        assert_eq!(
            (attached, notices.len()),
            (expected.iter().map(|&it| it.to_owned()).collect(), 0),
            "{text}: {notices:?}"
        );
    }
    let absolute = format!("@{}", repo.join("up.txt").display());
    assert_eq!(mentioned(&places, &absolute).0, [format!("{}=U", repo.join("up.txt").display())]);
}

#[test]
fn mention_that_is_not_attached_is_reported() {
    let World { _dir, places, repo } = world();
    let file = |name: &str| repo.join("sub").join(name);
    write(file("p.bin"), b"\x89PNG\r\n\x1a\nrest");
    write(file("zip"), [0, 1]);
    write(file("long"), "x".repeat(64 * 1024 + 1));
    write(file("just"), "x".repeat(64 * 1024));
    write(file(".env"), "KEY=1");
    fifo(&file("pipe"));
    symlink("nowhere", file("dangling")).expect("a link");
    assert_eq!(mentioned(&places, "@p.bin"), (vec!["image/png".into()], vec![]));
    assert_eq!(mentioned(&places, "@just").0.len(), 1);
    let pdf = |len: usize| [b"%PDF-1.7\n".to_vec(), vec![b' '; len - 9]].concat();
    write(file("a.pdf"), pdf(10 * 1024 * 1024));
    write(file("more.pdf"), pdf(10 * 1024 * 1024 + 1));
    assert_eq!(mentioned(&places, "@a.pdf"), (vec!["a.pdf: application/pdf".into()], vec![]));
    let too_large = |kind, bytes, most| Mentioned::TooLarge(kind, bytes, most);
    let cases = [
        ("@none.rs, then", Mentioned::NoFile),
        ("@zip", Mentioned::OtherKind),
        ("@long", too_large(FileKind::Text, 65537, 65536)),
        ("@more.pdf", too_large(FileKind::Pdf, 10485761, 10485760)),
        ("@pipe", Mentioned::Unreadable("it is not a regular file".to_owned())),
        ("@dangling", Mentioned::LeadsNowhere),
    ];
    for (text, outcome) in cases {
        let name = text.trim_start_matches('@').trim_end_matches(", then").to_owned();
        assert_eq!(in_time(&places, move |places| mentioned(places, text)), (vec![], vec![(name, outcome)]));
    }
    let secret = (".env".to_owned(), Mentioned::Secret);
    assert_eq!(mentioned(&places, "@.env"), (vec![".env=KEY=1".into()], vec![secret]));
    write(file(".env.example"), "KEY=");
    assert!(mentioned(&places, "@.env.example").1.is_empty());
}

#[test]
fn all_that_is_attached_has_a_bound() {
    let World { _dir, places, repo } = world();
    let picture = [b"\x89PNG\r\n\x1a\n".to_vec(), vec![0; 5 * 1024 * 1024 - 8]].concat();
    for number in 0..5 {
        write(repo.join(format!("sub/p{number}")), &picture);
    }
    let (attached, notices) = mentioned(&places, "@p0 @p1 @p2 @p3 @p4");
    assert_eq!((attached.len(), notices), (4, vec![("p4".to_owned(), Mentioned::MessageTooLarge)]));
    let many: Vec<String> = (0..40).map(|number| format!("@t{number}")).collect();
    for name in &many {
        write(repo.join("sub").join(&name[1..]), "t");
    }
    let (attached, notices) = mentioned(&places, &many.join(" "));
    assert_eq!(
        (attached.len(), notices.len(), &notices[0]),
        (32, 8, &("t32".to_owned(), Mentioned::TooMany(32)))
    );
}

#[test]
fn a_folder_is_listed_as_far_as_it_goes() {
    let World { _dir, places, repo } = world();
    for number in 0..250 {
        write(repo.join(format!("sub/f{number:03}")), "");
    }
    let (attached, _) = mentioned(&places, "@.");
    assert!(attached[0].ends_with("f199\n… and 50 more"), "{}", attached[0]);
    fs::create_dir(repo.join("sub/empty")).expect("a folder");
    assert_eq!(mentioned(&places, "@empty/").0, ["empty/=(empty)"]);
}

#[test]
fn names_are_completed_the_near_ones_first_without_what_is_ignored() {
    let World { _dir, repo, .. } = world();
    for folder in ["src/main", "target"] {
        fs::create_dir_all(repo.join(folder)).expect("a folder");
    }
    for file in ["main.rs", "src/main/mod.rs", "src/domain.rs", "target/main.o", ".main"] {
        write(repo.join(file), "");
    }
    write(repo.join(".gitignore"), "target\n");
    let most = |permission: &Permission, prefix: &str, limit| {
        let PathMatches { paths, more } = paths_like(&repo, permission, prefix, limit);
        let names = paths.iter().map(|it| format!("{}{}", it.path, if it.is_dir { "/" } else { "" }));
        (names.collect::<Vec<_>>(), more)
    };
    let like = |prefix: &str| most(&Permission::default(), prefix, 10).0;
    assert_eq!(like("main"), ["main.rs", "src/main/", "src/domain.rs", "src/main/mod.rs"]);
    assert_eq!(like("src/ma"), ["src/main/", "src/main/mod.rs", "src/domain.rs"]);
    assert_eq!(like(".m"), [".main"]);
    assert_eq!(like("nothing"), [""; 0]);
    assert_eq!(most(&Permission::default(), "", 2), (vec!["main.rs".into(), "src/".into()], true));
    let outside = repo.parent().expect("a folder").join("outside");
    fs::create_dir_all(&outside).expect("a folder");
    write(outside.join("secret"), "");
    symlink(&outside, repo.join("out")).expect("a link");
    assert_eq!(like("ou"), ["out"], "a link is named");
    for prefix in ["../re", "../", "/", "~/", "out/", "out/se", "src/../../outside/", "nowhere/"] {
        assert_eq!(like(prefix), [""; 0], "{prefix}: nothing outside of the folder is");
    }
    for tool in ["read", "list", "glob"] {
        let rule = Rule { ruling: Ruling::Deny, tool: tool.into(), what: Some("src/main/**".into()) };
        let permission = Permission { rules: vec![rule], ..Permission::default() };
        assert_eq!(most(&permission, "mod", 10).0, [""; 0], "what may not be read is not named");
        assert_eq!(most(&permission, "do", 10).0, ["src/domain.rs"]);
    }
}
