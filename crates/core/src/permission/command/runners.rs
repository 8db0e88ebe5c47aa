//! The programs that start other programs, or run code, from their arguments. A rule that allows such a program by its name
//! allows anything, so none is suggested; one that denies is compared with the commands after it. Must never be treated as a
//! barrier: many programs can be made to start another.

use super::{base, is_assignment};
use crate::permission::glob;

/// The meaning of the words after such a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunnerKind {
    /// After this many own words, a command.
    Command(usize),
    /// A command somewhere among them, or one from another source.
    Among,
    /// Lines for a shell.
    Lines,
    /// A shell: a script by its name, or lines.
    Shell,
    /// A script by its name, or code.
    Script,
    /// Code.
    Code,
    /// The name of its subcommand; without it, the row does not apply.
    Named,
}

/// The only list. `*` matches any letters; an entry of two words is for that command of the program. A version after a name, as
/// in `zsh-5.9`, is ignored.
const RUNNERS: &[(RunnerKind, &[&str])] = &[
    (RunnerKind::Command(0), &["builtin", "command", "doas", "env", "exec", "ionice", "nice", "nohup"]),
    (RunnerKind::Command(0), &["setsid", "stdbuf", "sudo", "time", "unbuffer"]),
    (
        RunnerKind::Command(0),
        &["chronic", "cross-env", "dbus-run-session", "dotenvx run", "eatmydata", "pkexec", "rlwrap"],
    ),
    (RunnerKind::Command(0), &["torify", "torsocks", "linux32", "linux64"]),
    (
        RunnerKind::Command(0),
        &["bunx", "npx", "pipx run", "uvx", "bundle exec", "npm exec", "npm x", "pnpm dlx"],
    ),
    (RunnerKind::Command(0), &["pnpm exec", "yarn dlx", "yarn exec", "bun x", "hatch run", "pdm run"]),
    (RunnerKind::Command(0), &["pipenv run", "poetry run", "rye run", "uv run", "uv tool run", "bun create"]),
    (RunnerKind::Command(0), &["npm create", "npm init", "npm innit", "pnpm create", "yarn create"]),
    (RunnerKind::Command(0), &["asdf exec", "nodenv exec", "pyenv exec", "rbenv exec", "volta run"]),
    (RunnerKind::Command(1), &["chroot", "direnv exec", "gosu", "su-exec", "timeout"]),
    (
        RunnerKind::Among,
        &["busybox", "chrt", "entr", "fakeroot", "find", "flock", "gdb", "ltrace", "nsenter"],
    ),
    (
        RunnerKind::Among,
        &["parallel", "setpriv", "start-stop-daemon", "strace", "systemd-run", "taskset", "unshare"],
    ),
    (
        RunnerKind::Among,
        &["toybox", "xargs", "xvfb-run", "conda run", "git submodule foreach", "git bisect run"],
    ),
    (
        RunnerKind::Among,
        &["aa-exec", "bwrap", "capsh", "cgexec", "concurrently", "cpulimit", "distrobox", "dotenv"],
    ),
    (
        RunnerKind::Among,
        &["fakechroot", "faketime", "fd", "fdfind", "firejail", "hyperfine", "ifne", "lldb", "nodemon"],
    ),
    (
        RunnerKind::Among,
        &["numactl", "perf", "prlimit", "proot", "proxychains*", "runuser", "screen", "setarch"],
    ),
    (
        RunnerKind::Among,
        &["tini", "dumb-init", "tmux", "tmate", "valgrind", "watchexec", "mise exec", "mise x"],
    ),
    (RunnerKind::Among, &["docker run", "docker exec", "docker compose run", "docker compose exec"]),
    (
        RunnerKind::Among,
        &["docker container run", "docker container exec", "docker-compose run", "docker-compose exec"],
    ),
    (RunnerKind::Among, &["podman run", "podman exec", "podman container run", "podman container exec"]),
    (
        RunnerKind::Among,
        &["podman compose run", "podman compose exec", "podman-compose run", "podman-compose exec"],
    ),
    (RunnerKind::Among, &["nerdctl run", "nerdctl exec", "nerdctl container run", "nerdctl container exec"]),
    (
        RunnerKind::Among,
        &["nerdctl compose run", "nerdctl compose exec", "lxc exec", "incus exec", "toolbox run"],
    ),
    (
        RunnerKind::Among,
        &["kubectl exec", "kubectl run", "kubectl debug", "oc exec", "oc run", "oc debug", "oc rsh"],
    ),
    (
        RunnerKind::Among,
        &["nix run", "nix shell", "nix develop", "nix-shell", "aws-vault exec", "doppler run", "op run"],
    ),
    (
        RunnerKind::Lines,
        &["at", "autossh", "batch", "eval", "mosh", "script", "sg", "ssh", "sshpass", "su", "watch"],
    ),
    (
        RunnerKind::Shell,
        &["ash", "bash", "csh", "dash", "elvish", "fish", "ksh", "lksh", "mksh", "nu", "oksh", "osh"],
    ),
    (RunnerKind::Shell, &["posh", "rbash", "rksh", "rzsh", "sh", "tcsh", "xonsh", "yash", "ysh", "zsh"]),
    (
        RunnerKind::Script,
        &["python*", "pypy*", "node", "nodejs", "perl*", "ruby*", "php*", "lua*", "deno run"],
    ),
    (
        RunnerKind::Script,
        &["bun run", "julia", "pwsh", "Rscript", "tclsh*", "expect", "osascript", "tsx", "ts-node"],
    ),
    (
        RunnerKind::Script,
        &["ipython*", "R", "erl", "escript", "elixir", "iex", "gjs", "groovy", "guile*", "irb"],
    ),
    (
        RunnerKind::Script,
        &["janet", "jruby", "jshell", "octave", "powershell", "pwsh-preview", "qjs", "racket"],
    ),
    (RunnerKind::Script, &["runghc", "runhaskell", "ghci", "ocaml", "sbcl", "swipl", "wish*"]),
    (
        RunnerKind::Code,
        &["awk", "gawk", "mawk", "nawk", "sed", "ed", "ex", "vi", "vim", "nvim", "emacs", "m4"],
    ),
    (
        RunnerKind::Code,
        &["original-awk", "gsed", "ssed", "view", "rview", "rvim", "gvim", "vimdiff", "emacsclient"],
    ),
    (RunnerKind::Code, &["deno eval", "source", ".", "dc", "gnuplot", "mariadb", "mysql", "psql", "sqlite3"]),
    (
        RunnerKind::Named,
        &["bun", "bundle", "conda", "deno", "direnv", "docker", "docker compose", "git", "git bisect"],
    ),
    (
        RunnerKind::Named,
        &["git submodule", "hatch", "kubectl", "nix", "npm", "npm run", "pdm", "pipenv", "pipx"],
    ),
    (RunnerKind::Named, &["pnpm", "pnpm run", "podman", "poetry", "rye", "uv", "yarn", "yarn run"]),
    (
        RunnerKind::Named,
        &["asdf", "aws-vault", "docker-compose", "docker container", "doppler", "dotenvx", "incus", "lxc"],
    ),
    (
        RunnerKind::Named,
        &["mise", "mise run", "nerdctl", "nerdctl compose", "nerdctl container", "nodenv", "oc", "op"],
    ),
    (
        RunnerKind::Named,
        &["podman compose", "podman container", "podman-compose", "pyenv", "rbenv", "toolbox"],
    ),
    (RunnerKind::Named, &["uv tool", "volta"]),
];

/// Options of git that take the next word as their value.
const GIT: &[&str] = &[
    "-C",
    "-c",
    "--attr-source",
    "--config-env",
    "--git-dir",
    "--namespace",
    "--super-prefix",
    "--work-tree",
];

/// What a program runs, if it is in the list, by its name or with its subcommand, such as `docker exec`.
pub(super) fn runs(command: &[&str]) -> Option<RunnerKind> {
    let is_word = |(pattern, word): (&str, &&str)| {
        let name = base(word);
        pattern == name || pattern == unversioned(name) || pattern.contains('*') && glob::word(pattern, name)
    };
    let is_entry =
        |entry: &str| entry.split(' ').count() == command.len() && entry.split(' ').zip(command).all(is_word);
    RUNNERS.iter().find(|(_, entries)| entries.iter().any(|entry| is_entry(entry))).map(|(runs, _)| *runs)
}

/// The name of a program without its version.
fn unversioned(name: &str) -> &str {
    let end = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if end.len() < name.len() { end.strip_suffix('-').unwrap_or(end) } else { name }
}

/// Whether another command may follow this one.
pub(super) fn hides_another(words: &[&str]) -> bool {
    let hides = |runs| {
        matches!(runs, RunnerKind::Command(_) | RunnerKind::Among | RunnerKind::Lines | RunnerKind::Shell)
    };
    (1..=words.len().min(3)).any(|count| runs(&words[..count]).is_some_and(hides))
}

/// The number of words that an option of this program may take, itself included: the least and the most.
pub(super) fn option_words(program: &str, option: &str) -> (usize, usize) {
    match base(program) {
        "git" if GIT.contains(&option) => (2, 2),
        "git" => (1, 1),
        _ if option == "--" || option.contains('=') || option.starts_with('+') => (1, 1),
        _ => (1, 2),
    }
}

pub(super) fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with(['-', '+'])
}

/// The number of first words that tell what a command does: a rule with them allows this and no more. None if no words do.
pub(super) fn telling(words: &[&str]) -> Option<usize> {
    let mut command = vec![*words.first()?];
    let mut at = 1;
    while let Some(runs) = runs(&command).or((at == 1).then_some(RunnerKind::Named)) {
        match runs {
            RunnerKind::Among | RunnerKind::Lines | RunnerKind::Code => return None,
            RunnerKind::Command(own) => {
                at += words[at..].iter().take_while(|word| is_assignment(word)).count() + own;
                let another = words.get(at..)?;
                if words[1..at].iter().chain(another.first()).any(|word| is_option(word)) {
                    return None;
                }
                return telling(another).or(says_itself(another).then_some(1)).map(|count| at + count);
            }
            RunnerKind::Script if words[0].contains("py") && words.get(at) == Some(&"-m") => at += 1,
            RunnerKind::Shell | RunnerKind::Script => {
                let is_file = |word: &&&str| {
                    **word != "-" && !["/dev/", "/proc/"].iter().any(|top| word.starts_with(top))
                };
                words.get(at).filter(|word| !is_option(word)).filter(is_file)?;
            }
            RunnerKind::Named => {}
        }
        // If the number of an option's words is not known, the next word is not known either.
        while let Some(option) = words.get(at).filter(|word| is_option(word)) {
            let (least, most) = option_words(words[0], option);
            at += (least == most).then_some(least)?;
        }
        command.push(words.get(at)?);
        at += 1;
    }
    Some(at)
}

/// Whether a rule with the program's name alone would allow only this program.
pub(super) fn says_itself(words: &[&str]) -> bool {
    words.first().is_some_and(|program| runs(&[program]).is_none())
}
