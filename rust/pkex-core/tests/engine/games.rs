//! Games as arrays, and their values by enumerating coalitions.

use std::ops::ControlFlow;

use pkex_core::{Error, Index, Matrix, Method, ProductGames, Settings};

/// Games by rows, players by columns.
#[derive(Clone, Debug)]
pub struct Games {
    pub players: usize,
    pub present: Vec<f64>,
    pub absent: Vec<f64>,
    pub weights: Vec<f64>,
}

impl Games {
    pub fn values(
        &self,
        index: Index,
        method: Method,
        settings: &Settings,
    ) -> Result<Vec<f64>, Error> {
        let (games, players) = (self.weights.len(), self.players);
        let games = ProductGames {
            present: Matrix::new(&self.present, games, players)?,
            absent: Some(Matrix::new(&self.absent, games, players)?),
            difference: None,
            weights: Matrix::new(&self.weights, games, 1)?,
        };
        games.values(index, method, settings, &mut |_, _| ControlFlow::Continue(()))
    }

    pub fn shapley(&self, method: Method) -> Vec<f64> {
        self.values(Index::Shapley, method, &Settings::default())
            .expect("the games are well formed")
    }

    /// Player by player: the Shapley value by enumerating coalitions, and the scale of its terms.
    pub fn brute_force(&self, index: Index) -> Vec<(f64, f64)> {
        (0..self.players).map(|player| self.brute_force_of(player, index)).collect()
    }

    fn brute_force_of(&self, player: usize, index: Index) -> (f64, f64) {
        let (mut value, mut scale) = (0.0, 0.0);
        for (game, weight) in self.weights.iter().enumerate() {
            let row = game * self.players;
            let (present, absent) = (&self.present[row..], &self.absent[row..]);
            let (mut omega, mut size) = (0.0, 0.0);
            for coalition in 0..1_usize << self.players {
                if coalition >> player & 1 == 1 {
                    continue;
                }
                let others = (0..self.players).filter(|&l| l != player);
                let product: f64 = others
                    .map(|l| if coalition >> l & 1 == 1 { present[l] } else { absent[l] })
                    .product();
                let share = coalition_weight(self.players, coalition.count_ones() as usize, index);
                omega += share * product;
                size += share * product.abs();
            }
            let difference = present[player] - absent[player];
            value += weight * difference * omega;
            scale += (weight * difference).abs() * size;
        }
        (value, scale)
    }
}

/// The weight of a coalition of `size` players without the player itself.
fn coalition_weight(players: usize, size: usize, index: Index) -> f64 {
    match index {
        Index::Banzhaf => 0.5_f64.powi(i32::try_from(players - 1).expect("few players")),
        // 1 / (d C(d−1, size)).
        Index::Shapley => (1..=size)
            .fold(1.0 / players as f64, |share, q| share * q as f64 / (players - q) as f64),
    }
}
