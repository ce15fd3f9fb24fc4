//! Time per factor of a case of `counts`, and the shares of its bodies by perf:
//! `cargo run --release --package pkex-bench --bin profile -- "MMD, marginal, 20 features" 2000`.
//!
//! One thread, the instruction set of `PKEX_SIMD` or the widest one. The time is that of the fastest
//! of many runs. Bodies below half a percent are not printed.

use std::error::Error;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use std::{env, fs};

use pkex_bench::cases::{CASES, Case};
use pkex_bench::settings;

const TIME: Duration = Duration::from_secs(5);

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<ExitCode> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [case, size] => profile(case, size),
        ["run", case, size] => {
            println!("{:.3} ns per factor", 1e9 * seconds(case_of(case)?, size.parse()?));
            Ok(ExitCode::SUCCESS)
        }
        _ => Err("usage: profile CASE SIZE".into()),
    }
}

fn case_of(name: &str) -> Outcome<&'static Case> {
    let case = CASES.iter().find(|candidate| candidate.name == name);
    case.ok_or_else(|| CASES.map(|candidate| candidate.name).join("\n").into())
}

/// Seconds per factor of the fastest run.
fn seconds(case: &Case, size: usize) -> f64 {
    let (settings, begin) = (settings(), Instant::now());
    let mut fastest = f64::INFINITY;
    while begin.elapsed() < TIME {
        let start = Instant::now();
        let factors = case.run(size, &settings);
        fastest = fastest.min(start.elapsed().as_secs_f64() / factors);
    }
    fastest
}

/// Runs the case under perf, and prints the time and the shares.
fn profile(case: &str, size: &str) -> Outcome<ExitCode> {
    case_of(case)?;
    let executable = env::current_exe()?;
    let data = executable.with_file_name(format!("profile.{}.perf", std::process::id()));
    let record = Command::new("perf")
        .args(["record", "--quiet", "--event", "cpu-clock:u", "--output"])
        .args([&data, &executable])
        .args(["run", case, size])
        .status()
        .map_err(|error| format!("perf: {error}"))?;
    let report = Command::new("perf")
        .args(["report", "--stdio", "--no-children", "--fields", "overhead,symbol", "--input"])
        .arg(&data)
        .output()?;
    fs::remove_file(&data)?;
    let shares = String::from_utf8(report.stdout)?;
    let is_large = |line: &&str| {
        let share = line.trim().split_once('%').and_then(|(share, _)| share.parse().ok());
        share.is_some_and(|share: f64| share >= 0.5)
    };
    shares.lines().filter(is_large).for_each(|line| println!("{}", line.trim()));
    Ok(if record.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
