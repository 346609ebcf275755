//! Names of folders in object stores.

use anyhow::{Result, bail};
use std::fmt;

/// The protocol that a store speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// The protocol of Amazon S3, and of many others.
    S3,
    /// Azure Blob Storage.
    Az,
}

const SCHEMES: [(&str, Scheme); 2] = [("s3://", Scheme::S3), ("az://", Scheme::Az)];

/// A folder in an object store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub(crate) scheme: Scheme,
    pub(crate) bucket: String,
    /// Path of the folder, without a slash at either end.
    pub(crate) path: String,
}

impl Address {
    /// The address that `text` is; `None` if it has no scheme of a store.
    ///
    /// # Errors
    /// If the bucket or the path is missing, or has empty parts, `.`, `..` or control characters.
    pub fn of(text: &str) -> Option<Result<Self>> {
        let (rest, scheme) = SCHEMES.iter().find_map(|&(prefix, scheme)| Some((text.strip_prefix(prefix)?, scheme)))?;
        let (bucket, path) = rest.split_once('/').unwrap_or((rest, ""));
        let path = path.strip_suffix('/').unwrap_or(path);
        let is_part = |part: &str| !matches!(part, "" | "." | "..") && !part.chars().any(char::is_control);
        Some(if is_part(bucket) && path.split('/').all(is_part) {
            Ok(Self { scheme, bucket: bucket.to_owned(), path: path.to_owned() })
        } else {
            Err(anyhow::anyhow!("{text}: expected BUCKET/PATH behind the two slashes, such as s3://bucket/runs/first"))
        })
    }

    /// Returns the last part of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Returns whether the address names several folders, by `*`, `?` or `[…]`.
    pub(crate) fn is_pattern(&self) -> bool {
        self.path.contains(['*', '?', '['])
    }

    /// Returns the address of another folder of the bucket.
    pub(crate) fn beside(&self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self.clone() }
    }

    /// Checks that the address names one folder.
    ///
    /// # Errors
    /// If it is a pattern.
    pub fn single(&self) -> Result<()> {
        if self.is_pattern() {
            bail!("{self} names any number of folders: name one");
        }
        Ok(())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (prefix, _) = SCHEMES.iter().find(|(_, scheme)| *scheme == self.scheme).expect("every scheme has a prefix");
        write!(f, "{prefix}{}/{}", self.bucket, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_bucket_and_a_path() {
        let address = Address::of("s3://evals/runs/first/").unwrap().unwrap();
        assert_eq!((address.bucket.as_str(), address.name()), ("evals", "first"));
        assert_eq!(address.to_string(), "s3://evals/runs/first");
        assert!(Address::of("runs/first").is_none() && Address::of("https://evals/x").is_none());
        for wrong in
            ["s3://", "s3://evals", "s3://evals/", "s3://evals//x", "az://evals/../x", "s3:///x", "s3://evals/a\nb"]
        {
            assert!(Address::of(wrong).unwrap().is_err(), "{wrong}");
        }
    }
}
