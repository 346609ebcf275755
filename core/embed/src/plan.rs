//! Plans of batches: which texts share one, sorted by length, in a few sizes.

/// The size of a full batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bucket {
    /// Tokens of the longest text it takes.
    pub n_tokens: usize,
    /// Number of texts in the batch.
    pub n_texts: usize,
}

/// The longest texts that stand beside each other when sorted; a unit of work any thread can take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Texts of the unit, by their place in the input; row `i` of the unit's result belongs to `texts[i]`.
    pub texts: Vec<usize>,
    /// The size it has; `None` for the one remainder and for texts longer than every bucket.
    pub bucket: Option<Bucket>,
}

/// Batches for texts of these lengths in tokens, longest first, every text in exactly one.
///
/// Longest first, because the unit that is finished last should be a short one. A batch takes the size of its longest
/// text and is filled up with the next shorter ones even where those would fit a smaller size: at most one batch of a
/// plan is not full. Texts of one length keep their order. `buckets` must ascend in `n_tokens`; a text longer than the
/// last is a unit of its own.
pub fn plan(lengths: &[usize], buckets: &[Bucket]) -> Vec<Unit> {
    debug_assert!(buckets.is_sorted_by_key(|bucket| bucket.n_tokens), "buckets ascend");
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&text| (std::cmp::Reverse(lengths[text]), text));
    let mut units = Vec::new();
    let mut rest = order.as_slice();
    while let Some(&longest) = rest.first() {
        let bucket = bucket_for(lengths[longest], buckets);
        let n_texts = bucket.map_or(1, |bucket| bucket.n_texts.max(1)).min(rest.len());
        let (texts, others) = rest.split_at(n_texts);
        let full = bucket.filter(|bucket| bucket.n_texts == n_texts);
        units.push(Unit { texts: texts.to_vec(), bucket: full });
        rest = others;
    }
    units
}

/// Texts as they come, together until they have `n_tokens` tokens; a longer text is a unit of its own.
pub fn plan_in_order(lengths: &[usize], n_tokens: usize) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let mut room = 0;
    for (text, &length) in lengths.iter().enumerate() {
        match units.last_mut() {
            Some(unit) if length <= room => {
                unit.texts.push(text);
                room -= length;
            }
            _ => {
                units.push(Unit { texts: vec![text], bucket: None });
                room = n_tokens.saturating_sub(length);
            }
        }
    }
    units
}

/// The smallest bucket that takes a text of `n_tokens`.
fn bucket_for(n_tokens: usize, buckets: &[Bucket]) -> Option<Bucket> {
    buckets.iter().copied().find(|bucket| bucket.n_tokens >= n_tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BUCKETS: [Bucket; 3] =
        [Bucket { n_tokens: 16, n_texts: 4 }, Bucket { n_tokens: 32, n_texts: 4 }, Bucket { n_tokens: 64, n_texts: 2 }];

    #[test]
    fn fills_a_batch_with_the_next_shorter_texts() {
        let units = plan(&[10, 60, 30, 11, 17, 9, 100], &BUCKETS);
        let texts: Vec<&[usize]> = units.iter().map(|unit| &*unit.texts).collect();
        assert_eq!(texts, [&[6][..], &[1, 2], &[4, 3, 0, 5]]);
        assert_eq!(
            units.iter().map(|unit| unit.bucket).collect::<Vec<_>>(),
            [None, Some(BUCKETS[2]), Some(BUCKETS[1])]
        );
    }

    #[test]
    fn nothing_gives_nothing() {
        assert!(plan(&[], &BUCKETS).is_empty());
    }

    proptest! {
        #[test]
        fn every_text_is_in_one_unit_it_fits(lengths in proptest::collection::vec(1..80_usize, 0..60)) {
            let units = plan(&lengths, &BUCKETS);
            let mut seen: Vec<usize> = units.iter().flat_map(|unit| unit.texts.clone()).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..lengths.len()).collect::<Vec<_>>());
            let mut n_partial = 0;
            for unit in &units {
                let longest = unit.texts.iter().map(|&text| lengths[text]).max().expect("no unit is empty");
                match unit.bucket {
                    Some(bucket) => prop_assert!(longest <= bucket.n_tokens && unit.texts.len() == bucket.n_texts),
                    None if longest <= 64 => n_partial += 1,
                    None => prop_assert_eq!(unit.texts.len(), 1),
                }
            }
            prop_assert!(n_partial <= 1);
        }
    }
}
