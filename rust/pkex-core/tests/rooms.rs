//! The core's files are in rooms, and every file imports only from those before it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms from the bottom up: a folder and its files, or single files.
const ROOMS: &str = "
    error threads
    simd/        arithmetic level numbers lanes exp double sin sum
    memory settings matrix
    quadrature/  rule sample_rule bound measure free_end table
    game/        block spread scaling coalitions two_players sweep interactions coalitions_of_two
    game/        recursion series quantity supersets
    kernel/      product joint exponential matern overlap periodic gauss_sums gauss_transform median centering family players series
    kernel/      term linked_terms narrowing packed_kernel
    walk/        source tiling cell waves items weights chunks pairs triangle computation
    product_games
    variance/    covariances games extended_precision
    evaluations/ packed_expansion kind points quadratic_form single_factors products
    absent/      background factors contrast blocks point_means gaussian_means background_means product_means
    absent/      sample_rules node_means
    absent/      games neutral interventional marginal marginal_products squares
    expansion
    sparse/      rows profiles tiles means entry_factors marginal cell
    sparse/      compare fill add_up values selected_pairs expansion
    coalitions/  tables factors range list orders values
    coupling
    sample/      octets layout absent self_pairs weights problem packed_pairs workspace
    sample/      accumulate tiles rectangle_rows totals sums
    sample/      gaussian_means mean_factors permutations
";

/// The files, as they are imported (`simd::lanes`), from the bottom up.
fn ordered() -> Vec<String> {
    let line = |line: &'static str| {
        let (folder, files) = match line.split_once('/') {
            Some((folder, files)) => (format!("{}::", folder.trim()), files),
            None => (String::new(), line),
        };
        files.split_whitespace().map(move |file| format!("{folder}{file}"))
    };
    ROOMS.lines().flat_map(line).collect()
}

/// The source files below a folder except those that only declare modules: path by name, as in
/// [`ordered`].
fn sources(folder: &Path, within: &str) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            found.extend(sources(&path, &format!("{within}{stem}::")));
        } else if stem != "mod" && stem != "lib" {
            found.insert(format!("{within}{stem}"), path);
        }
    }
    found
}

/// The text after each `crate::` outside of comments, to the end of its line.
fn imports(source: &str) -> impl Iterator<Item = &str> {
    let code = source.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.flat_map(|line| line.split("crate::").skip(1))
}

#[test]
fn files_import_only_from_files_before_them() {
    let order = ordered();
    let files = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "");
    let listed: Vec<_> = order.iter().filter(|name| !files.contains_key(*name)).collect();
    assert!(listed.is_empty(), "ROOMS lists {listed:?}, which are not there");
    let is_of = |file: &str, import: &str| {
        import.strip_prefix(file).is_some_and(|rest| rest.starts_with([':', ';']))
    };
    for (name, path) in &files {
        let place = order.iter().position(|file| file == name);
        let place = place.unwrap_or_else(|| panic!("{name} is in no room: add it to ROOMS"));
        for import in imports(&fs::read_to_string(path).unwrap()) {
            assert!(
                order[..place].iter().any(|file| is_of(file, import)),
                "{} imports crate::{import}, which is of no file before it in ROOMS",
                path.display()
            );
        }
    }
}
