//! Restarts a test in a process with other rights: with mounts of its own, or as another user. Skips no test: if the
//! machine can't give the rights, the test fails and says so.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Set in the process that may mount.
const MAY_MOUNT: &str = "RETAKE_TEST_MAY_MOUNT";

/// Whether this process may mount. If not, this runs the test again in a process that may, whose mounts are private and
/// end with it; the caller then returns. The name is the test's full path.
///
/// # Panics
/// The test failed there, or the machine lets this user mount nowhere.
#[must_use = "a process that may not mount has to return"]
pub fn may_mount(test: &str) -> bool {
    if std::env::var_os(MAY_MOUNT).is_some() {
        return true;
    }
    let mut command = Command::new("unshare");
    command.arg(namespaces()).arg(this_program()).env(MAY_MOUNT, "1");
    again(command, test);
    false
}

/// The namespaces in which this user may mount: root needs a mount namespace, others also a user namespace.
fn namespaces() -> &'static str {
    let try_out = |namespaces: &'static str| -> Result<&'static str, String> {
        let mut probe = Command::new("unshare");
        probe.args([namespaces, "mount", "-t", "tmpfs", "retake-test"]).arg(std::env::temp_dir());
        match probe.stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => Ok(namespaces),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(error) => Err(error.to_string()),
        }
    };
    try_out("-m").or_else(|_| try_out("-rm")).unwrap_or_else(|why| {
        panic!(
            "This test mounts a small file system, which needs user namespaces, and this machine does not let you have \
             them: `unshare -rm mount` says: {why}. Allow them (sysctl kernel.unprivileged_userns_clone=1, and on Ubuntu \
             kernel.apparmor_restrict_unprivileged_userns=0), or run the tests as root."
        )
    })
}

/// Runs only this test again, by a command that ends with the name of a copy of this program.
///
/// # Panics
/// It did not run, or failed.
pub fn again(mut command: Command, test: &str) {
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).stdin(Stdio::null());
    let Output { status, stdout, stderr } =
        command.output().unwrap_or_else(|why| panic!("{command:?}: {why}"));
    let said = String::from_utf8_lossy(&stdout);
    // An unknown test name runs no test, and succeeds.
    let ran = status.success() && said.contains("test result: ok. 1 passed");
    assert!(ran, "{test}, run again: {status}\n{said}\n{}", String::from_utf8_lossy(&stderr));
}

/// The program of these tests.
///
/// # Panics
/// The system does not report it.
#[must_use]
pub fn this_program() -> PathBuf {
    std::env::current_exe().expect("the path of this program")
}

/// A copy of a program that every user with access to the folder can start: a clone may be in a private home.
///
/// # Panics
/// It could not be copied.
#[must_use]
pub fn for_everybody(program: &Path, folder: &Path) -> PathBuf {
    let copy = folder.join(program.file_name().expect("a program's name"));
    // In a separate process: a process that another test starts at this moment would inherit the copy open for writing,
    // and such a file can't be started.
    let install = Command::new("install").args(["-m", "755"]).arg(program).arg(&copy).status();
    assert!(install.is_ok_and(|status| status.success()), "{} is not copied", program.display());
    copy
}

/// A small file system of its own, for a process that may mount; unmounted at the end, even if the test fails.
#[must_use = "it is unmounted at once"]
pub struct Small(PathBuf);

impl Small {
    /// Mounts it on a folder, which is created if necessary. The size is in the format of `mount`: `1m`.
    ///
    /// # Panics
    /// It can't be mounted.
    pub fn mount(at: PathBuf, size: &str) -> Self {
        fs::create_dir_all(&at).expect("a folder");
        let mut mount = Command::new("mount");
        let output = mount
            .args(["-t", "tmpfs", "-o", &format!("size={size},mode=755"), "retake-test"])
            .arg(&at)
            .output();
        let output = output.expect("there is a mount command");
        assert!(output.status.success(), "not mounted: {output:?}");
        Self(at)
    }

    /// Its folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Small {
    /// Lazily: a process that another test is just starting holds its files for a moment.
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("--lazy").arg(&self.0).status();
        assert!(unmounted.is_ok_and(|status| status.success()) || std::thread::panicking(), "not unmounted");
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{again, may_mount, this_program};

    #[test]
    fn trial_01_whoever_runs_the_tests_can_mount_in_a_process_of_its_own() {
        if !may_mount("again::tests::trial_01_whoever_runs_the_tests_can_mount_in_a_process_of_its_own") {
            return;
        }
        let folder = std::env::temp_dir();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "retake-test"]).arg(&folder).status();
        assert!(mounted.expect("mount is there").success());
        assert_eq!(std::fs::read_dir(folder).expect("listed").count(), 0, "nobody else sees it");
    }

    #[test]
    #[should_panic(expected = "0 passed")]
    fn a_test_that_is_not_there_is_no_success() {
        again(Command::new(this_program()), "no_such_test");
    }
}
