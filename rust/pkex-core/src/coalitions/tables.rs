//! The products of all coalitions of a few players, each computed from that of a coalition with one
//! player fewer.

/// Multiplies the number at place 0 of a table by the factors of players. Place S is set to the
/// product of the present factors a of the players in S, whose bits are set, and of the absent
/// factors b of the others.
///
/// The table has 2^p places for p players; these are overwritten.
#[inline(always)]
pub(crate) fn multiply_out<T: Copy>(
    table: &mut [T],
    factors: impl Iterator<Item = (T, T)>,
    times: impl Fn(T, T) -> T,
) {
    let mut size = 1;
    for (a, b) in factors {
        let (without, with) = table[..2 * size].split_at_mut(size);
        for (without, with) in without.iter_mut().zip(with) {
            *with = times(*without, a);
            *without = times(*without, b);
        }
        size *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::multiply_out;

    #[test]
    fn places_are_coalitions() {
        let mut table = [10, 0, 0, 0];
        multiply_out(&mut table, [(2, 3), (5, 7)].into_iter(), |x, y| x * y);
        assert_eq!(table, [210, 140, 150, 100]);
    }
}
