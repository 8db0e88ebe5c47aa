//! `retake ask` as scripts run it, timed over the whole process: with a running owner, and with one that it has to start. Ends
//! every owner that it starts.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use crate::AskArguments;
use crate::report::Report;
use crate::samples::{at, median, timed};
use crate::start;

/// The demo model answers at once; no server is looked for.
const SETTINGS: &str = "[model]\ndefault = \"demo\"\n[local]\nfind = false\n[demo]\nword_delay_ms = 0\n";

/// Longer than any benchmark takes, in seconds.
const STAYS: &str = "3600";

/// Measures everything.
pub(crate) fn run(arguments: &AskArguments) -> anyhow::Result<Report> {
    let Some(program) = arguments.retake.clone().or_else(start::beside) else {
        bail!("no `retake` lies beside this program; name one with --retake PATH");
    };
    let dir = &arguments.dir;
    let folder = crate::own_folder(dir)?;
    let home = Home { program: &program, folder: &folder.path().canonicalize()? };
    std::fs::create_dir(home.folder.join("work"))?;
    std::fs::write(home.settings(), SETTINGS)?;
    let measured = measure(&home, arguments.runs);
    // Even after an error: no owner must remain.
    let ended = home.does(&["stop"], STAYS);
    let report = measured?;
    ended?;
    Ok(report)
}

fn measure(home: &Home<'_>, runs: u64) -> anyhow::Result<Report> {
    let mut report = Report::default();
    report.text("version", env!("CARGO_PKG_VERSION"));
    report.count("runs", runs);
    home.does(&["--version"], STAYS)?;
    let times = |prepare: &[&str], measured: &[&str], stays: &str| -> anyhow::Result<Vec<f64>> {
        let one = |_| {
            if !prepare.is_empty() {
                home.does(prepare, STAYS)?;
            }
            Ok(timed(|| home.does(measured, stays))?.0 / 1e3)
        };
        (0..runs).map(one).collect()
    };
    let mut add = |name: &str, times: Vec<f64>| {
        report.add(format!("{name}_ms"), median(times.clone()));
        report.add(format!("{name}_p90_ms"), at(&times, 90));
    };
    let ask = ["ask", "--new", "one apple"];
    add("version", times(&[], &["--version"], STAYS)?);
    home.does(&ask, STAYS)?;
    add("status_warm", times(&[], &["status"], STAYS)?);
    add("list_warm", times(&[], &["list"], STAYS)?);
    add("ask_warm", times(&[], &ask, STAYS)?);
    // One command inside the sandbox, and the same without it.
    let command = ["ask", "--new", "--mode", "allow-all", "run env true"];
    add("command_warm", times(&[], &command, STAYS)?);
    home.does(&["stop"], STAYS)?;
    std::fs::write(home.settings(), format!("{SETTINGS}[permissions]\nsandbox = false\n"))?;
    home.does(&ask, STAYS)?;
    add("command_free_warm", times(&[], &command, STAYS)?);
    home.does(&["stop"], STAYS)?;
    std::fs::write(home.settings(), SETTINGS)?;
    add("ask_cold", times(&["stop"], &ask, STAYS)?);
    add("list_cold", times(&["stop"], &["list"], STAYS)?);
    home.does(&["stop"], STAYS)?;
    // With an idle time of 0 the command also waits for the end of its owner.
    add("ask_alone", times(&[], &ask, "0")?);
    Ok(report)
}

/// The folders of the program.
struct Home<'a> {
    program: &'a Path,
    folder: &'a Path,
}

impl Home<'_> {
    fn settings(&self) -> PathBuf {
        self.folder.join("config.toml")
    }

    /// Runs a command to its end; its owner stays for this many seconds.
    fn does(&self, arguments: &[&str], stays: &str) -> anyhow::Result<()> {
        let done = Command::new(self.program)
            .args(arguments)
            .current_dir(self.folder.join("work"))
            .env("HOME", self.folder)
            .env("RETAKE_DATA_DIR", self.folder.join("data"))
            .env("RETAKE_CONFIG", self.settings())
            .env("RETAKE_IDLE_S", stays)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start {}", self.program.display()))?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            bail!("{} {} failed: {said}", self.program.display(), arguments.join(" "));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::run;
    use crate::AskArguments;

    #[test]
    fn each_command_is_measured_by_the_program_that_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().to_owned();
        let arguments = |retake: &str| AskArguments {
            runs: 2,
            retake: Some(PathBuf::from(retake)),
            json: true,
            dir: dir.clone(),
        };
        let json = run(&arguments("/bin/true")).unwrap().json();
        for name in [
            "version_ms",
            "ask_warm_ms",
            "command_warm_ms",
            "command_free_warm_ms",
            "ask_cold_p90_ms",
            "ask_alone_ms",
        ] {
            assert!(json[name].as_f64().is_some_and(|time| time > 0.0), "{name}: {json}");
        }
        let failed = format!("{:#}", run(&arguments("/bin/false")).err().unwrap());
        assert!(failed.contains("/bin/false"), "{failed}");
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0, "nothing is left");
    }
}
