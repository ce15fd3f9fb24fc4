//! The speed of the engine as a share of the machine's peak, and the cost of its options: one table
//! of ratios between computations that run in turns.
//!
//! The peak is counted in multiply-adds, and the quadrature in node-features of five such
//! instructions each. Two problems of different Λ, and so of different numbers of nodes, differ
//! only in the inner loop, whose time is the difference of theirs. The time of a factor (an
//! exponential, and reading, subtracting, squaring and multiplying) is that of a prediction minus
//! that of a prediction with a single feature, which is only reduction.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use pkex_bench::problem::{Problem, nodes};
use pkex_bench::{fastest, peak, settings};
use pkex_core::{Method, Settings, Summation};

/// Numbers of features, each with the time to spend on it.
const FEATURES: [usize; 5] = [10, 20, 50, 100, 500];
const TIME: Duration = Duration::from_secs(3);

/// Factors in a run: a millisecond or so.
const FACTORS: usize = 400_000;

/// Λ of smooth models (8 nodes), as scikit-learn's `gamma="scale"` makes them, and of rough ones (16).
const SMOOTH: f64 = 2.0;
const ROUGH: f64 = 18.0;

/// Instructions of a node and feature: two in the pass up, three in the pass down.
const INSTRUCTIONS: f64 = 5.0;

/// The measurements for one number of features.
struct Measurement {
    features: usize,
    nodes: f64,
    /// Multiply-adds a second, of a core's arithmetic units.
    peak: f64,
    /// Seconds for a factor, in explaining.
    explain: f64,
    /// Seconds for a node and feature in the inner loop; unknown where few features bound the nodes.
    inner: Option<f64>,
    /// Seconds for a factor, in predicting.
    factor: f64,
    /// Times the time of quadrature, compensated, on one thread.
    recursion: f64,
    plain: f64,
    two_threads: f64,
}

fn main() {
    let measurements: Vec<_> = FEATURES.into_iter().map(measure).collect();
    // Measured again for each number of features, in turns with the others: the fastest of all
    // counts.
    let peak = measurements.iter().map(|m| m.peak).fold(0.0, f64::max);
    println!(
        "One core: {}, peak {:.1} G multiply-adds/s. 1000 points, Gaussian kernel, Λ = {SMOOTH}.\n\n\
         features  nodes  ns/factor  G node-features/s  of peak  inner loop  exponential  \
         recursion  plain sums  two threads",
        settings().level.name(),
        peak / 1e9,
    );
    for m in &measurements {
        let rate = m.nodes / m.explain;
        let inner = m.inner.map_or("—".into(), |inner| percent(INSTRUCTIONS / inner / peak));
        println!(
            "{:8}  {:5}  {:9.2}  {:17.2}  {:>7}  {inner:>10}  {:8.2} ns  {:8.2}×  {:9.2}×  {:10.2}×",
            m.features,
            m.nodes,
            m.explain * 1e9,
            rate / 1e9,
            percent(INSTRUCTIONS * rate / peak),
            m.factor * 1e9,
            m.recursion,
            m.plain,
            m.two_threads,
        );
    }
    write_rows(&measurements, peak);
}

fn measure(features: usize) -> Measurement {
    let one_thread = settings();
    let two_threads = Settings { threads: 2, ..one_thread };
    let plain = Settings { summation: Summation::Plain, ..one_thread };

    let smooth = Problem::new(features, FACTORS, SMOOTH);
    let rough = (features >= 50).then(|| Problem::new(features, FACTORS, ROUGH));
    let single = Problem::new(1, FACTORS / features, 0.5);
    let explain = || smooth.explain(Method::Quadrature, &one_thread);
    let [peak, smooth_time, rough_time, predict, reduce, plain, two_threads] = fastest(
        TIME,
        [
            &|| {
                black_box(peak::multiply_adds(one_thread.level));
            },
            &explain,
            &|| rough.iter().for_each(|rough| rough.explain(Method::Quadrature, &one_thread)),
            &|| smooth.predict(&one_thread),
            &|| single.predict(&one_thread),
            &|| smooth.explain(Method::Quadrature, &plain),
            &|| smooth.explain(Method::Quadrature, &two_threads),
        ],
    );
    let [quadrature, recursion] =
        fastest(TIME / 2, [&explain, &|| smooth.explain(Method::Recursion, &one_thread)]);

    let factors = smooth.factors();
    let more_nodes = nodes(features, ROUGH) - nodes(features, SMOOTH);
    Measurement {
        features,
        nodes: nodes(features, SMOOTH),
        peak: peak::multiply_adds(one_thread.level) / peak,
        explain: smooth_time / factors,
        inner: rough.map(|_| (rough_time - smooth_time) / (factors * more_nodes)),
        factor: (predict - reduce) / (factors - single.factors()),
        recursion: recursion / quadrature,
        plain: plain / smooth_time,
        two_threads: two_threads / smooth_time,
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// Leaves rows for the table that `pytest benches/python` prints.
fn write_rows(measurements: &[Measurement], peak: f64) {
    let inner_loops = measurements.iter().filter_map(|m| {
        let (rate, peak) = (INSTRUCTIONS / m.inner? / 1e9, peak / 1e9);
        let label =
            format!("inner loop, d = {}, in multiply-adds a second: the core's peak", m.features);
        Some(format!(
            "| {label} | {peak:.1} G | {rate:.1} G | {} | ≥ 80 % |\n",
            percent(rate / peak)
        ))
    });
    let exponentials = measurements.iter().filter(|m| m.features == 100).map(|m| {
        let time = m.factor * 1e9;
        format!(
            "| factor of the kernel, d = {}: an exponential |  | {time:.2} ns |  | ≤ 0.9 ns |\n",
            m.features
        )
    });
    let rows: String = inner_loops.chain(exponentials).collect();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("engine.md");
    std::fs::write(&path, rows).unwrap_or_else(|error| eprintln!("{}: {error}", path.display()));
}
