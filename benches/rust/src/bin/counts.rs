//! Instructions a factor (player × evaluation) of the hot bodies, counted by valgrind: `make counts`.
//!
//! Counts have no noise, unlike times: a body that grows by 5 % is found. AVX2 is the widest
//! instruction set that valgrind supports. `counts.txt` has the counts of its last renewal (`make
//! counts-renew`, after an intended change, or with another compiler).

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs, thread};

use pkex_bench::cases::{CASES, Case};
use pkex_core::{Level, Settings, Summation};

const LIMITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/counts.txt");

/// A count that exceeds its limit by more than this factor is an error.
const GROWTH: f64 = 1.05;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<ExitCode> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => check(),
        ["renew"] => renew(),
        ["run", case, size] => run(case, size.parse()?),
        _ => Err("usage: counts [renew]".into()),
    }
}

/// Runs one case under valgrind, and prints the number of its factors.
fn run(case: &str, size: usize) -> Outcome<ExitCode> {
    let level = Level::from_name("avx2").filter(|level| level.is_available());
    let level = level.ok_or("counts are of AVX2, which this machine has not")?;
    let settings = Settings { summation: Summation::Compensated, threads: 1, level };
    let case = CASES.iter().find(|candidate| candidate.name == case).ok_or("no such case")?;
    println!("{}", case.run(size, &settings));
    Ok(ExitCode::SUCCESS)
}

/// Counts all cases and compares them with the limits.
fn check() -> Outcome<ExitCode> {
    let limits = fs::read_to_string(LIMITS)?;
    let mut outcome = ExitCode::SUCCESS;
    println!("instructions a factor on AVX2   limit");
    for case in &CASES {
        let count = count(case)?;
        let limit = limit_of(case.name, &limits)?;
        let note = match count / limit {
            ratio if ratio > GROWTH => {
                "  GREW by more than 5 %: make it smaller, or renew the limits"
            }
            ratio if ratio < 1.0 / GROWTH => "  smaller: renew the limits, so that it stays",
            _ => "",
        };
        if note.contains("GREW") {
            outcome = ExitCode::FAILURE;
        }
        println!("{count:29.2}  {limit:6.2}  {}{note}", case.name);
    }
    Ok(outcome)
}

fn limit_of(name: &str, limits: &str) -> Outcome<f64> {
    let mut lines = limits.lines().filter_map(|line| line.split_once("  "));
    let limit = lines.find_map(|(limit, case)| (case == name).then(|| limit.trim().parse()));
    Ok(limit.ok_or_else(|| format!("{name} has no limit: make counts-renew"))??)
}

/// Counts all cases and stores the counts as limits.
fn renew() -> Outcome<ExitCode> {
    let mut limits = "# Instructions a factor on AVX2: make counts-renew\n".to_owned();
    for case in &CASES {
        writeln!(limits, "{:.2}  {}", count(case)?, case.name)?;
    }
    fs::write(LIMITS, &limits)?;
    print!("{limits}");
    Ok(ExitCode::SUCCESS)
}

/// Instructions a factor: from the difference between two sizes, which excludes work that is done
/// once.
fn count(case: &Case) -> Outcome<f64> {
    // Cases run in parallel: their instructions do not depend on the time that they take.
    let [small, large] = thread::scope(|scope| {
        let runs = case.sizes.map(|size| scope.spawn(move || instructions(case, size)));
        runs.map(|run| run.join().expect("counting does not panic"))
    });
    let (small, large) = (small?, large?);
    Ok((large.0 - small.0) / (large.1 - small.1))
}

/// Instructions and factors of a run.
fn instructions(case: &Case, size: usize) -> Outcome<(f64, f64)> {
    let executable = env::current_exe()?;
    let profile =
        executable.with_file_name(format!("counts.{}.{size}.callgrind", std::process::id()));
    let output = Command::new("valgrind")
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(&executable)
        .args(["run", case.name, &size.to_string()])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let total = total_of(&profile)?;
    fs::remove_file(&profile)?;
    Ok((total, String::from_utf8(output.stdout)?.trim().parse()?))
}

fn total_of(profile: &Path) -> Outcome<f64> {
    let text = fs::read_to_string(profile)?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals:"));
    Ok(total.ok_or("callgrind gave no total")?.trim().parse()?)
}
