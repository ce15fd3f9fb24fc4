//! Numbers for the tests, equal in every run.

/// Numbers in [0, 1) that look random.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    pub fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn numbers(&mut self, count: usize, low: f64, high: f64) -> Vec<f64> {
        (0..count).map(|_| low + (high - low) * self.next()).collect()
    }
}
