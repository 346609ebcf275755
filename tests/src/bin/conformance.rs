//! The native runner: `conformance FILE...` prints one line of JSON for each vector file, a
//! [`FileReport`](closeread_tests::FileReport). `cargo xtask conformance` starts it and makes the lines readable.

use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut stdout = std::io::stdout().lock();
    for path in std::env::args().skip(1) {
        let json = match std::fs::read_to_string(&path) {
            Ok(json) => json,
            Err(error) => {
                eprintln!("{path}: {error}");
                return ExitCode::from(2);
            }
        };
        let name = path.rsplit('/').next().unwrap_or(&path);
        let report = closeread_tests::run_file(name, &json);
        let line = serde_json::to_string(&report).expect("a report has only texts and numbers");
        if writeln!(stdout, "{line}").is_err() {
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
