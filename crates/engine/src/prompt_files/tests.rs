//! Tests of finding prompts: origins, names, order, limits, and files of a stranger.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

struct World {
    _dir: tempfile::TempDir,
    places: Places,
    repo: PathBuf,
    config: PathBuf,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = dir.path().canonicalize().expect("a path");
        let (repo, config) = (root.join("repo"), root.join("config"));
        for folder in [repo.join("sub"), repo.join(".git"), config.clone()] {
            fs::create_dir_all(folder).expect("a folder");
        }
        let places = Places { folder: repo.join("sub"), config: Some(config.clone()), ..Places::default() };
        Self { _dir: dir, places, repo, config }
    }

    fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.places.folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, text).expect("written");
        path
    }

    fn found(&self, kind: PromptKind) -> FoundPrompts {
        find(kind, &self.places)
    }

    fn defects(&self, kind: PromptKind) -> Vec<FileDefect> {
        self.found(kind).refused.into_iter().map(|refused| refused.why).collect()
    }
}

fn names(found: &FoundPrompts) -> Vec<&str> {
    found.files.iter().map(|file| file.name.as_str()).collect()
}

#[test]
fn commands_are_found_in_the_folder_its_repository_and_the_settings() {
    let world = World::new();
    world.write(".retake/commands/fix.md", "---\ndescription: Fix it\nargument-hint: [issue]\nmodel: big\nallowed-tools: Bash(rm:*), Read\n---\nFix $1.\n");
    world.write(".claude/commands/git/commit.md", "# Commit\nCommit all.");
    world.write(world.repo.join(".retake/commands/review.md"), "Review.");
    world.write(world.config.join("commands/mine.md"), "Mine.");
    world.write(".retake/commands/notes.txt", "no command");
    world.write(".retake/commands/.fix.md.swp", "no command");
    let found = world.found(PromptKind::Command);
    assert_eq!(names(&found), ["fix", "git:commit", "mine", "review"]);
    assert_eq!(found.refused, []);
    let fix = found.get("fix").expect("the command");
    assert_eq!((fix.description.as_str(), fix.body.as_str()), ("Fix it", "Fix $1.\n"));
    assert_eq!((fix.model.as_deref(), fix.argument_hint.as_deref()), (Some("big"), Some("[issue]")));
    assert_eq!(fix.tools, ["Bash(rm:*)", "Read"]);
    assert_eq!(
        (fix.origin, &fix.path),
        (PromptOrigin::Folder, &world.places.folder.join(".retake/commands/fix.md"))
    );
    assert_eq!(found.get("git:commit").expect("the command").description, "Commit");
    assert_eq!(found.get("mine").expect("the command").origin, PromptOrigin::Settings);
}

#[test]
fn skills_and_agents_name_themselves_and_need_a_description() {
    let world = World::new();
    world.write(
        ".retake/skills/pdf/SKILL.md",
        "---\nname: pdf-forms\ndescription: |\n  Fills in\n  forms.\n---\nDo it.",
    );
    world.write(".claude/skills/plain/SKILL.md", "---\ndescription: Plain.\n---\n");
    world.write(".claude/skills/none/SKILL.md", "No description.");
    world.write(".claude/skills/empty/README.md", "no skill");
    world.write(
        ".claude/agents/a/reviewer.md",
        "---\ndescription: Reviews.\ntools: [read, grep]\n---\nYou review.",
    );
    world.write(".claude/agents/none.md", "You do nothing.");
    let found = world.found(PromptKind::Skill);
    assert_eq!(names(&found), ["pdf-forms", "plain"]);
    assert_eq!(found.files[0].description, "Fills in forms.");
    assert_eq!(world.defects(PromptKind::Skill), [FileDefect::NoDescription]);
    let found = world.found(PromptKind::Agent);
    assert_eq!(names(&found), ["reviewer"]);
    assert_eq!(found.files[0].tools, ["read", "grep"]);
    assert_eq!(world.defects(PromptKind::Agent), [FileDefect::NoDescription]);
}

#[test]
fn ones_own_file_hides_that_of_the_folder_and_the_nearer_one_that_above() {
    let world = World::new();
    let own = world.write(world.config.join("commands/x.md"), "own");
    let near = world.write(".retake/commands/x.md", "near");
    let near_y = world.write(".claude/commands/y.md", "near");
    let above = world.write(world.repo.join(".retake/commands/y.md"), "above");
    let found = world.found(PromptKind::Command);
    let bodies: Vec<_> = found.files.iter().map(|file| file.body.as_str()).collect();
    assert_eq!(bodies, ["own", "near"]);
    let shadowed: Vec<_> = found.shadowed.into_iter().map(|it| (it.file.path, it.by)).collect();
    assert_eq!(shadowed, [(near, own), (above, near_y)]);
}

#[test]
fn without_a_repository_only_the_folder_itself_is_searched() {
    let world = World::new();
    fs::remove_dir(world.repo.join(".git")).expect("removed");
    world.write(world.repo.join(".retake/commands/above.md"), "above");
    world.write(".retake/commands/here.md", "here");
    assert_eq!(names(&world.found(PromptKind::Command)), ["here"]);
}

#[test]
fn links_out_of_the_folder_are_refused_and_those_of_the_settings_are_followed() {
    let world = World::new();
    let outside = world.write(world.config.join("elsewhere.md"), "elsewhere");
    world.write(".retake/commands/real.md", "real");
    for (link, to) in
        [("out.md", outside.clone()), ("within.md", "real.md".into()), ("loop.md", "loop.md".into())]
    {
        symlink(to, world.places.folder.join(".retake/commands").join(link)).expect("a link");
    }
    symlink(&world.config, world.places.folder.join(".claude")).expect("a link");
    fs::create_dir_all(world.config.join("commands")).expect("a folder");
    symlink(&outside, world.config.join("commands/own.md")).expect("a link");
    let found = world.found(PromptKind::Command);
    assert_eq!(names(&found), ["own", "real", "within"]);
    let refused: Vec<_> =
        found.refused.iter().map(|it| (it.path.file_name().expect("a name").to_str(), &it.why)).collect();
    let leads_out = |name| (Some(name), &FileDefect::LeadsOut);
    assert_eq!(refused, [leads_out("loop.md"), leads_out("out.md"), leads_out("commands")]);
}

#[test]
fn bad_files_are_named_with_their_reason() {
    let world = World::new();
    let at = |name: &str| format!(".retake/commands/{name}");
    world.write(at("a.md"), "---\ndescription: x\n");
    world.write(at("b.md"), "---\nnot a field\n---\n");
    world.write(at("c.md"), vec![b'x'; MOST_BYTES as usize + 1]);
    world.write(at("d.md"), [0xff, 0xfe]);
    world.write(at("e\u{1b}[2J.md"), "x");
    world.write(at("f g.md"), "x");
    let pipe = world.places.folder.join(at("h.md"));
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).expect("a pipe");
    fs::create_dir(world.places.folder.join(at("i.md"))).expect("a folder");
    symlink("nowhere", world.places.folder.join(at("j.md"))).expect("a link");
    let expected = [
        FileDefect::NoEnd,
        FileDefect::Line(2),
        FileDefect::TooLarge(MOST_BYTES),
        FileDefect::NotText,
        FileDefect::Name,
        FileDefect::Name,
        FileDefect::NotRegular,
        FileDefect::NotRegular,
        FileDefect::Unreadable("it is a link that leads nowhere".to_owned()),
    ];
    assert_eq!(world.defects(PromptKind::Command), expected);
    assert!(world.found(PromptKind::Command).files.is_empty());
}

#[test]
fn descriptions_have_no_control_characters_and_a_limit() {
    let world = World::new();
    world.write(".retake/commands/a.md", "---\ndescription: \"\u{1b}]0;x\u{7}red\\nline\"\n---\n");
    world.write(".retake/commands/b.md", format!("---\ndescription: {}\n---\n", "é".repeat(3000)));
    let found = world.found(PromptKind::Command);
    assert_eq!(found.files[0].description, "]0;x red line");
    assert_eq!(found.files[1].description.chars().count(), MOST_DESCRIPTION + 1);
}

#[test]
fn files_beyond_the_limit_are_left_out_and_reported_once() {
    let world = World::new();
    for at in 0..MOST_FILES + 3 {
        world.write(format!(".retake/commands/c{at}.md"), "x");
    }
    let found = world.found(PromptKind::Command);
    assert_eq!(found.files.len(), MOST_FILES);
    assert_eq!(world.defects(PromptKind::Command), [FileDefect::TooMany(MOST_FILES)]);
}

#[test]
fn another_text_has_another_digest() {
    let world = World::new();
    let digest = |text: &str| {
        world.write(".retake/commands/a.md", text);
        world.found(PromptKind::Command).files[0].digest
    };
    let first = digest("one");
    assert_eq!(first, digest("one"));
    assert_ne!(first, digest("two"));
}
