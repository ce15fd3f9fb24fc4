//! The engine's computations one by one, against their times in earlier runs (criterion).
//!
//! `cargo bench -p pkex-bench --bench engine -- --save-baseline before`, and later
//! `-- --baseline before`. Figures to quote come from the other target, `ratios`.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pkex_bench::{peak, problem::Problem, settings};
use pkex_core::{Method, Settings, Summation};

/// Factors of the kernel in an iteration, about: a few milliseconds.
const FACTORS: usize = 1_000_000;

fn multiply_adds(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("peak");
    // All of them are below 2⁵³, and their number is a whole one.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
    group.throughput(Throughput::Elements(peak::multiply_adds(settings().level) as u64));
    group.bench_function("multiply-adds", |bencher| {
        bencher.iter(|| peak::multiply_adds(settings().level))
    });
}

fn explanations(criterion: &mut Criterion) {
    let quadrature = Method::Quadrature;
    let compensated = settings();
    let plain = Settings { summation: Summation::Plain, ..compensated };
    let two_threads = Settings { threads: 2, ..compensated };
    let variants = [
        ("explain", quadrature, compensated),
        ("explain plain", quadrature, plain),
        ("explain on two threads", quadrature, two_threads),
        ("explain by recursion", Method::Recursion, compensated),
    ];
    for (name, method, settings) in variants {
        let mut group = criterion.benchmark_group(name);
        for features in [20, 100] {
            let rows = FACTORS / (1000 * features);
            let problem = Problem::new(features, rows, 1.0);
            group.throughput(Throughput::Elements((rows * 1000 * features) as u64));
            group.bench_with_input(
                BenchmarkId::from_parameter(features),
                &problem,
                |b, problem| {
                    b.iter(|| problem.explain(method, &settings));
                },
            );
        }
    }
}

fn predictions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("predict");
    for features in [20, 100] {
        let rows = FACTORS / (1000 * features);
        let problem = Problem::new(features, rows, 1.0);
        group.throughput(Throughput::Elements((rows * 1000 * features) as u64));
        group.bench_with_input(BenchmarkId::from_parameter(features), &problem, |b, problem| {
            b.iter(|| problem.predict(&settings()));
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = multiply_adds, explanations, predictions
}
criterion_main!(benches);
