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
}
