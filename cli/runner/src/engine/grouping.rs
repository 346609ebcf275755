//! Items that are asked on the same books.

use closeread_eval::Item;
use std::collections::HashMap;

/// Items by the books they are about, in the order of first use.
pub fn groups(items: &[Item]) -> Vec<(&[String], Vec<&Item>)> {
    let mut groups: Vec<(&[String], Vec<&Item>)> = Vec::new();
    let mut place: HashMap<&[String], usize> = HashMap::new();
    for item in items {
        let idx = *place.entry(&item.documents).or_insert_with(|| {
            groups.push((&item.documents, Vec::new()));
            groups.len() - 1
        });
        groups[idx].1.push(item);
    }
    groups
}
