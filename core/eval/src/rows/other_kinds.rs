//! Files that are no JSON Lines and are met where these are expected.

/// Whether a file is called as tables are.
pub(super) fn is_table(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".csv", ".tsv"].iter().any(|ending| name.ends_with(ending))
}

/// Whether a file begins as gzip, ZIP, xz, Zstandard or bzip2 do.
pub(super) fn is_packed(bytes: &[u8]) -> bool {
    let beginnings: [&[u8]; 5] = [b"\x1f\x8b", b"PK\x03\x04", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"BZh"];
    beginnings.iter().any(|beginning| bytes.starts_with(beginning))
}
