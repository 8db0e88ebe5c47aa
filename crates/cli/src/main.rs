//! The binary `retake`. Must never hold logic: see `app`.

use std::process::ExitCode;

fn main() -> ExitCode {
    retake_cli::app::main()
}
