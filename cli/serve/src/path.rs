//! Paths of requests, taken apart.

/// Longest name of a file, and longest path, that is looked for: systems refuse longer ones by errors of their own.
const MAX_NAME: usize = 255;
pub(crate) const MAX_PATH: usize = 2048;

/// The parts of a path, unescaped; `None` where one could lead out of a folder or to a hidden file, or names no file.
pub(crate) fn parts(path: &str) -> Option<Vec<String>> {
    let parts: Option<Vec<String>> = path.trim_start_matches('/').split('/').map(unescaped).collect();
    let mut parts = parts?;
    if parts.last().is_some_and(String::is_empty) {
        parts.pop();
    }
    let is_plain = |part: &String| !part.is_empty() && !part.starts_with('.') && !part.contains(['/', '\\', ':', '\0']);
    let is_name = |part: &String| is_plain(part) && part.len() <= MAX_NAME;
    parts.iter().all(is_name).then_some(parts)
}

/// A name as a part of a path that [`parts`] takes, as of a folder called by the time of day.
pub(crate) fn as_part(name: &str) -> String {
    let mut part = name.replace(['/', '\\', ':', '\0'], "-");
    // Names of the page's own modules end so.
    if let Some(stem) = part.strip_suffix(".js") {
        part = format!("{stem}-js");
    }
    if part.is_empty() || part.starts_with('.') {
        part.insert(0, '-');
    }
    part.truncate(part.floor_char_boundary(MAX_NAME / 2));
    part
}

fn unescaped(part: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::new(), part.as_bytes());
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_never_leaves_its_folder() {
        assert_eq!(parts("/runs/a%20b/items.jsonl").unwrap(), ["runs", "a b", "items.jsonl"]);
        assert_eq!(parts("/").unwrap(), [""; 0]);
        for path in ["/../x", "/a/%2e%2e/x", "/a/.lock", "/a%2fb", "/a//b", "/%5c..%5cx", "/C:/x", "/%zz", "/%"] {
            assert_eq!(parts(path), None, "{path}");
        }
    }

    #[test]
    fn finding_16_every_folder_has_a_name_that_a_path_can_have() {
        for name in ["2026-11-26T10:00:00", ".hidden", "..", "", "a\\b", "app.js", &"\u{fffd}".repeat(255)] {
            let part = as_part(name);
            assert_eq!(parts(&format!("/runs/{part}")).map(|parts| parts[1].clone()), Some(part.clone()), "{name}");
            assert!(!part.ends_with(".js"), "{part}");
        }
        assert_eq!(as_part("2026-11-26T10:00:00"), "2026-11-26T10-00-00");
        assert_eq!(as_part("qwen3 & co"), "qwen3 & co");
    }
}
