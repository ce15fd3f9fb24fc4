//! Chooses the instruction sets that the core is compiled for, as the configuration `level`: all of
//! the target, or with `PKEX_LEVELS=native` the widest of this machine, for quick builds.

use std::env;

const LEVELS: [&str; 4] = ["portable", "avx2", "avx512", "neon"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PKEX_LEVELS");
    let values = LEVELS.map(|level| format!("{level:?}")).join(", ");
    println!("cargo::rustc-check-cfg=cfg(level, values({values}))");
    for level in levels() {
        println!("cargo::rustc-cfg=level={level:?}");
    }
}

fn levels() -> &'static [&'static str] {
    let is_native = match env::var("PKEX_LEVELS").as_deref() {
        Ok("native") => true,
        Ok("all") | Err(_) => false,
        Ok(other) => panic!("PKEX_LEVELS={other}: expected \"all\" or \"native\""),
    };
    match env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("x86_64") if is_native => native(),
        Ok("x86_64") => &["portable", "avx2", "avx512"],
        Ok("aarch64") if is_native => &["neon"],
        Ok("aarch64") => &["portable", "neon"],
        _ => &["portable"],
    }
}

#[cfg(target_arch = "x86_64")]
fn native() -> &'static [&'static str] {
    let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    if !has_avx2 {
        &["portable"]
    } else if is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
    {
        &["avx512"]
    } else {
        &["avx2"]
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn native() -> &'static [&'static str] {
    panic!("PKEX_LEVELS=native: x86-64 is compiled on another architecture")
}
