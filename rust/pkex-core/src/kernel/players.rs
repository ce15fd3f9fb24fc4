//! The players of a kernel's columns.

/// The player of each column: columns of one player are present or absent together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Players {
    column_players: Vec<usize>,
    count: usize,
}

impl Players {
    /// Every column is a player of its own.
    #[must_use]
    pub fn columns(count: usize) -> Self {
        Self { column_players: (0..count).collect(), count }
    }

    /// Column j belongs to player `of_column[j]`; players are numbered from 0 without gaps.
    #[must_use]
    pub fn new(column_players: Vec<usize>) -> Self {
        let count = column_players.iter().max().map_or(0, |last| last + 1);
        Self { column_players, count }
    }

    /// Number of players.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The player of a column, if there is such a column.
    #[must_use]
    pub fn of(&self, column: usize) -> Option<usize> {
        self.column_players.get(column).copied()
    }

    /// Number of columns.
    #[must_use]
    pub fn column_count(&self) -> usize {
        self.column_players.len()
    }
}
