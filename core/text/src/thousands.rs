//! Numbers as people read them.

/// A whole number with commas between the thousands.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things: "1 book", "1,200 books". The noun's plural ends in s.
pub fn counted(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", thousands(n as u64), if n == 1 { "" } else { "s" })
}
