//! The passages that hold a word, in a byte or two each: an index over ten million tokens fits beside a model.

/// The passages that hold a word, ascending, with its frequency in each.
///
/// A passage is the distance from the one before, times two, plus one if the word occurs more than once, in base 128 with
/// the lowest digit first; then the frequency follows in the same way. Neighbouring passages share their words, so most
/// take one byte.
#[derive(Debug, Clone, Default)]
pub(super) struct Postings {
    pub(super) bytes: Vec<u8>,
    /// Number of passages.
    pub(super) n: u32,
    last: u32,
}

impl Postings {
    /// Adds a passage behind all others.
    ///
    /// # Panics
    /// In a debug build, if it is not behind the last one.
    pub(super) fn push(&mut self, idx: u32, frequency: u32) {
        debug_assert!(self.n == 0 || idx > self.last, "passages ascend");
        let distance = u64::from(idx - self.last);
        self.write(distance << 1 | u64::from(frequency > 1));
        if frequency > 1 {
            self.write(u64::from(frequency));
        }
        self.last = idx;
        self.n += 1;
    }

    fn write(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// Reads the postings that `bytes` say, with room for more.
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        let mut postings = Self::default();
        entries(bytes).for_each(|(idx, frequency)| postings.push(idx, frequency));
        postings
    }
}

/// (passage, frequency), in order, of the bytes of [`Postings`].
pub(super) fn entries(bytes: &[u8]) -> impl Iterator<Item = (u32, u32)> + '_ {
    let mut bytes = bytes.iter();
    let mut last = 0u32;
    std::iter::from_fn(move || {
        let head = read(&mut bytes)?;
        last = last.wrapping_add((head >> 1) as u32);
        let frequency = if head & 1 == 1 { read(&mut bytes)? as u32 } else { 1 };
        Some((last, frequency))
    })
}

fn read<'a>(bytes: &mut impl Iterator<Item = &'a u8>) -> Option<u64> {
    let (mut number, mut shift) = (0, 0u32);
    loop {
        let byte = *bytes.next()?;
        number |= u64::from(byte & 0x7F).wrapping_shl(shift);
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_went_in_comes_out(entries in prop::collection::btree_map(any::<u32>(), 1u32.., 0..40)) {
            let mut postings = Postings::default();
            entries.iter().for_each(|(&idx, &frequency)| postings.push(idx, frequency));
            prop_assert_eq!(postings.n as usize, entries.len());
            prop_assert_eq!(super::entries(&postings.bytes).collect::<Vec<_>>(), entries.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn neighbours_take_a_byte_each() {
        let mut postings = Postings::default();
        (0..100).for_each(|idx| postings.push(idx, 1));
        assert_eq!(postings.bytes.len(), 100);
    }
}
