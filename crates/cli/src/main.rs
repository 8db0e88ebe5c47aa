//! The binary `retake`. Must never contain logic: see `app`.

use std::process::ExitCode;

fn main() -> ExitCode {
    retake_cli::app::main()
}
