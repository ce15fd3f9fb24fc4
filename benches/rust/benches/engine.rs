//! The engine's computations, compared with their times in earlier runs (criterion).
//!
//! `cargo bench -p pkex-bench --bench engine -- --save-baseline before`, and later
//! `-- --baseline before`. Figures to quote come from the other target, `ratios`.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pkex_bench::{peak, problem::Problem, settings};
use pkex_core::{Method, Settings, Summation};

/// Factors of the kernel in an iteration: a millisecond or so.
const FACTORS: usize = 400_000;

/// Λ of a model with scikit-learn's `gamma="scale"`.
const LAMBDA: f64 = 2.0;

fn multiply_adds(criterion: &mut Criterion) {
    let level = settings().level;
    criterion.bench_function("peak", |bencher| bencher.iter(|| peak::multiply_adds(level)));
}

fn engine(criterion: &mut Criterion) {
    let usual = settings();
    let plain = Settings { summation: Summation::Plain, ..usual };
    let two_threads = Settings { threads: 2, ..usual };
    let mut benchmark = |name: &str, computation: &dyn Fn(&Problem)| {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(FACTORS as u64));
        for features in [20, 100] {
            let problem = Problem::new(features, FACTORS, LAMBDA);
            group.bench_function(BenchmarkId::from_parameter(features), |bencher| {
                bencher.iter(|| computation(&problem));
            });
        }
        group.finish();
    };
    benchmark("explain", &|problem| problem.explain(Method::Quadrature, &usual));
    benchmark("explain, plain sums", &|problem| problem.explain(Method::Quadrature, &plain));
    benchmark("explain, two threads", &|problem| problem.explain(Method::Quadrature, &two_threads));
    benchmark("explain, recursion", &|problem| problem.explain(Method::Recursion, &usual));
    benchmark("predict", &|problem| problem.predict(&usual));
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(700));
    targets = multiply_adds, engine
}
criterion_main!(benches);
