//! A program that is only the supervisor of calls, for programs that cannot be started again as one, such as their
//! tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    retake_tools::supervise().unwrap_or(ExitCode::FAILURE)
}
