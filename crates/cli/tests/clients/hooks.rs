//! `retake hooks`, as a person sees it.

use retake_wire::{Hook, HookOrigin, HookState, Hooks, Problem, ProblemCode, Reply};

use super::scripted::{Act, Case};

fn hook(name: &str, origin: HookOrigin, state: HookState) -> Hook {
    Hook {
        name: name.to_owned(),
        origin,
        state,
        events: vec!["said".to_owned(), "rewound".to_owned()],
        timeout_s: 10,
        keep_trying_s: 86_400,
        entry: (origin == HookOrigin::Folder).then(|| format!("entry-of-{name}")),
        ..Hook::default()
    }
}

fn problem(message: &str) -> Problem {
    Problem { code: ProblemCode::Hooks, message: message.to_owned(), ..Problem::default() }
}

/// A command of the folder that asks for everything.
fn greedy(state: HookState) -> Hook {
    Hook {
        command: Some("sh -c 'cat; \x1b[2J echo'".to_owned()),
        texts: true,
        network: true,
        write: vec!["/home/ada/log".to_owned(), "'/home/ada/my log'".to_owned()],
        ..hook("greedy", HookOrigin::Folder, state)
    }
}

pub(super) fn hooks() -> Hooks {
    let (own, of_folder) = (HookOrigin::Settings, HookOrigin::Folder);
    let address = |it: &str| Some(it.to_owned());
    let why = "the setting hook.half.url and command are missing, so this hook is never called";
    Hooks {
        hooks: vec![
            Hook { problem: Some(problem(why)), ..hook("half", own, HookState::Incomplete) },
            Hook { address: address("https://example.org/…"), ..hook("web", own, HookState::Set) },
            Hook { address: address("https://a.example/x"), ..hook("gone", of_folder, HookState::Missing) },
            greedy(HookState::NeedsApproval),
            Hook {
                address: address("https://b.example/\u{202e}in?key=1"),
                variable: Some("HOOK_SECRET".to_owned()),
                ..hook("signed", of_folder, HookState::Changed)
            },
            Hook { command: Some("./log".to_owned()), ..hook("there", of_folder, HookState::Set) },
        ],
        file_problems: vec![problem("/home/ada/.retake/hooks.toml, line 2: unknown setting hook.a.\x1b[2J")],
    }
}

#[test]
fn hooks_are_listed_with_what_they_do_and_revoked() {
    let none = Case::script("").reply("hooks_list", Ok(Reply::Hooks(Hooks::default())));
    let seen = [
        Case::script("").see(&["hooks"]),
        Case::script("").see(&["hooks", "list", "--json"]),
        none.see(&["hooks"]),
        Case::script("").see(&["hooks", "revoke", "there"]),
    ];
    insta::assert_snapshot!(seen.join("\n"));
}

#[test]
fn hook_of_a_folder_is_approved_only_after_an_explicit_yes() {
    let one = |state| Ok(Reply::Hooks(Hooks { hooks: vec![greedy(state)], ..Hooks::default() }));
    let set = || one(HookState::Set);
    let asks =
        |answer| Case::terminal([Act::Answer(answer)]).reply("hooks_list", one(HookState::NeedsApproval));
    let seen = [
        asks(true).reply("hook_approve", set()).see(&["hooks", "approve", "greedy"]),
        asks(false).see(&["hooks", "approve", "greedy"]),
        Case::script("").see(&["hooks", "approve", "greedy"]),
        Case::script("").reply("hook_approve", set()).see(&["hooks", "approve", "greedy", "--yes"]),
        // Without such a hook of the folder there is nothing to show: the owner says why it is refused.
        Case::script("").reply("hook_approve", set()).see(&["hooks", "approve", "web", "--yes"]),
    ];
    insta::assert_snapshot!(seen.join("\n"));
}
