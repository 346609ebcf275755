//! The keys of an object as they are written: JSON lets the last of two equal ones count, and says nothing.

use super::excerpt;

/// Most keys of an object that are compared with each other.
const LOOKED_AT: usize = 1000;

/// Returns the note on a key that valid JSON holds twice in its outermost object, which has `n` keys that differ.
pub fn key_twice(json: &[u8], n: usize) -> Option<String> {
    let (mut keys, mut last): (Vec<&[u8]>, &[u8]) = (Vec::new(), &[]);
    let (mut depth, mut at) = (0, 0);
    while at < json.len() {
        match json[at] {
            b'"' => {
                let start = at + 1;
                at = start;
                while json[at] != b'"' {
                    at += if json[at] == b'\\' { 2 } else { 1 };
                }
                last = &json[start..at];
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b':' if depth == 1 => keys.push(last),
            _ => {}
        }
        at += 1;
    }
    if keys.len() == n {
        return None;
    }
    let twice = keys.iter().take(LOOKED_AT).enumerate().find(|(idx, key)| keys[..*idx].contains(key));
    let (_, key) = twice?;
    Some(format!("`{}` is twice in the object, and the last one counts", excerpt(&String::from_utf8_lossy(key))))
}
