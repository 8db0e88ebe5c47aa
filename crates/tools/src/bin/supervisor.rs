//! A program that is nothing but the supervisor of calls, for programs that can't be started again as one: their tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    retake_tools::supervise().unwrap_or(ExitCode::FAILURE)
}
