//! A command has no access to other terminals: it reads none, writes to none and pushes no keys into one.

use std::io::Write as _;
use std::process::Command;

use retake_testkit::again;
use retake_tools::Network;
use rustix::pty::OpenptFlags;

use super::stand::{Ground, How, everywhere};

const ATTACK: &str = include_str!("terminal.py");

/// Set in the process that runs a test again with a controlling terminal.
const IN_TERMINAL: &str = "RETAKE_TEST_IN_TERMINAL";

/// Runs its other arguments in a terminal of its own.
const TERMINAL: &str = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

#[tokio::test]
async fn trial_21_a_command_reaches_no_terminal_of_other_programs() {
    let test = "hold::terminals::trial_21_a_command_reaches_no_terminal_of_other_programs";
    everywhere(test, async |how| {
        let control = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        rustix::pty::grantpt(&control).expect("ours");
        rustix::pty::unlockpt(&control).expect("open");
        let name = rustix::pty::ptsname(&control, Vec::new()).expect("a name").into_string().expect("a text");
        // Typed text that was not read yet.
        std::fs::File::from(control.try_clone().expect("again")).write_all(b"secret\n").expect("typed");
        for network in [Network::Ask, Network::On] {
            Ground::new(how, network).can_not(ATTACK, &[&name]).await;
        }
    })
    .await;
}

#[tokio::test]
async fn trial_21_a_command_has_no_controlling_terminal() {
    let test = "hold::terminals::trial_21_a_command_has_no_controlling_terminal";
    if std::env::var_os(IN_TERMINAL).is_none() {
        let mut command = Command::new("python3");
        command.args(["-c", TERMINAL]).arg(again::this_program()).env(IN_TERMINAL, "1");
        return again::again(command, test);
    }
    std::fs::File::open("/dev/tty").expect("this process has a terminal");
    everywhere(test, async |how| {
        let ground = Ground::new(how, Network::Ask);
        ground.can_not(ATTACK, &[]).await;
        ground.refuses("echo x > /dev/tty", "/dev/tty").await;
    })
    .await;
}

#[tokio::test]
async fn trial_21_programs_that_make_terminals_work_in_namespaces() {
    let test = "hold::terminals::trial_21_programs_that_make_terminals_work_in_namespaces";
    everywhere(test, async |how| {
        if how == How::WithoutNamespaces {
            return;
        }
        let ground = Ground::new(how, Network::Ask);
        for command in [
            "script -qec 'tty; test -t 0' /dev/null | grep -q /dev/pts/",
            "python3 -c 'import os, pty; a, b = pty.openpty(); os.write(a, b\"x\\n\"); assert os.read(b, 9) == b\"x\\n\"'",
            "python3 -c 'import pty; assert pty.spawn([\"sh\", \"-c\", \"echo x > /dev/tty\"]) == 0'",
        ] {
            ground.prints(command).await;
        }
    })
    .await;
}

/// Terminals of a machine have a common limit: a command that takes all of them would leave the person none.
#[tokio::test]
async fn trial_21_a_command_takes_some_terminals_and_leaves_the_others_in_namespaces() {
    const TAKES: &str = "python3 -c \"
import os
held = []
try:
    while len(held) < 400: held.append(os.open('/dev/ptmx', os.O_RDWR))
except OSError:
    pass
print('TOOK', len(held))
\"";
    let test = "hold::terminals::trial_21_a_command_takes_some_terminals_and_leaves_the_others_in_namespaces";
    everywhere(test, async |how| {
        if how == How::WithoutNamespaces {
            return;
        }
        let printed = Ground::new(how, Network::Ask).prints(TAKES).await;
        assert!(printed.contains("TOOK 256"), "{printed}");
    })
    .await;
}
