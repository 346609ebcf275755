//! Files that grow by lines, as objects that never change.
//!
//! A segment is JSON Lines. Its first line says who wrote it; each other one is a line of a growing file, or says that the file
//! was begun anew. The lines of a file are those of the object of its name, then those of the segments after the last `whole`
//! one, each line once: what a machine sent twice before it was lost stands there once.

use anyhow::{Context, Result, bail};
use closeread_methods::record::TrialKey;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::io::{self, Read, Seek, SeekFrom};

/// Name of the folder of segments, below the folder of the run.
const FOLDER: &str = "segments";

/// The first line of a segment.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Head<'a> {
    /// Name of the writer that wrote the segment.
    pub(crate) writer: Cow<'a, str>,
    /// Whether the objects named as growing files have all lines up to here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) whole: bool,
}

/// A line of a growing file, as it stands there; without one, the file was begun anew.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Entry<'a> {
    pub(crate) file: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<&'a RawValue>,
}

/// The name of a segment, below the folder.
pub(crate) fn name(number: u64) -> String {
    format!("{FOLDER}/{number:08}.jsonl")
}

/// The number of the segment that is named so.
pub(crate) fn number(name: &str) -> Option<u64> {
    let number = name.strip_prefix(FOLDER)?.strip_prefix('/')?.strip_suffix(".jsonl")?.parse().ok()?;
    // No run has so many: one more has a number, too.
    (number < u64::from(u32::MAX) && self::name(number) == name).then_some(number)
}

/// Reads the first line of a segment.
pub(crate) fn head(segment: &[u8]) -> Result<Head<'_>> {
    let first = segment.split(|&byte| byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice(first).context("its first line is not that of a segment")
}

/// The growing files of a folder, by name.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Lines(pub(crate) BTreeMap<String, Vec<String>>);

impl Lines {
    /// The lines of a file.
    pub(crate) fn of(&self, file: &str) -> &[String] {
        self.0.get(file).map_or(&[], Vec::as_slice)
    }

    /// Begins with the object of a growing file's name.
    pub(crate) fn begin(&mut self, file: &str, object: &[u8]) -> Result<()> {
        let text = std::str::from_utf8(object).with_context(|| format!("{file} is no UTF-8"))?;
        let mut lines = Vec::new();
        for (at, line) in text.split_inclusive('\n').enumerate() {
            match serde_json::from_str::<&RawValue>(line) {
                Ok(_) => lines.push(line.trim_end_matches(['\n', '\r']).to_owned()),
                // A kill cut it.
                Err(_) if !line.ends_with('\n') => {}
                Err(error) => bail!("{file}:{}: expected a line of JSON: {error}; remove the line", at + 1),
            }
        }
        self.0.insert(file.to_owned(), lines);
        Ok(())
    }

    /// Adds a segment, in the order of their numbers.
    pub(crate) fn add(&mut self, segment: &[u8]) -> Result<()> {
        let lines = segment.split(|&byte| byte == b'\n').skip(1).filter(|line| !line.is_empty());
        for (at, line) in lines.enumerate() {
            let entry: Entry<'_> =
                serde_json::from_slice(line).with_context(|| format!("line {} is not that of a segment", at + 2))?;
            match entry.line {
                Some(line) => self.0.entry(entry.file.into_owned()).or_default().push(line.get().to_owned()),
                None => drop(self.0.remove(entry.file.as_ref())),
            }
        }
        Ok(())
    }

    /// Keeps each line once, where it stands first.
    pub(crate) fn once(mut self) -> Self {
        for lines in self.0.values_mut() {
            let mut seen = HashSet::new();
            lines.retain(|line| seen.insert(line.clone()));
        }
        self
    }
}

/// The trial whose record a line is.
fn trial(line: &str) -> Option<TrialKey> {
    serde_json::from_str(line).ok()
}

/// The lines that this machine has and the store has not, which a kill kept from being sent. A trial that another machine
/// ran since is that machine's.
pub(crate) fn unsent(local: &[String], there: &[String]) -> Vec<String> {
    let sent: HashSet<&String> = there.iter().collect();
    let here: HashSet<&String> = local.iter().collect();
    let others: HashSet<TrialKey> =
        there.iter().filter(|line| !here.contains(line)).filter_map(|line| trial(line)).collect();
    let is_others = |line: &str| trial(line).is_some_and(|trial| others.contains(&trial));
    local.iter().filter(|line| !sent.contains(line) && !is_others(line)).cloned().collect()
}

/// The whole lines of a file behind its first bytes, which were sent; `None` if no line ends there: it is another file.
pub(crate) fn new_lines(file: &mut (impl Read + Seek), from: u64) -> io::Result<Option<Vec<u8>>> {
    let before = u64::from(from > 0);
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from - before))?;
    file.read_to_end(&mut bytes)?;
    if before == 1 && bytes.first() != Some(&b'\n') {
        return Ok(None);
    }
    bytes.truncate(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1));
    bytes.drain(..(before as usize).min(bytes.len()));
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    fn record(item: &str, answer: u32) -> String {
        format!(r#"{{"item":"{item}","method":"dos-rag","model":"a/b","budget":100,"repeat":0,"answer":{answer}}}"#)
    }

    #[test]
    fn lines_are_the_objects_then_the_segments_each_once() {
        let mut all = Lines::default();
        all.begin("records.jsonl", b"{\"a\": 1}\n{\"a\":2}\n").unwrap();
        let segment = "{\"writer\":\"x\"}\n{\"file\":\"records.jsonl\",\"line\":{\"a\":2}}\n{\"file\":\"records.jsonl\",\"line\":{\"a\":3}}\n";
        all.add(segment.as_bytes()).unwrap();
        assert_eq!(all.clone().once().of("records.jsonl"), ["{\"a\": 1}", "{\"a\":2}", "{\"a\":3}"], "as they stand");
        all.add(b"{\"writer\":\"x\"}\n{\"file\":\"records.jsonl\"}\n").unwrap();
        assert!(all.of("records.jsonl").is_empty(), "begun anew");
        assert!(all.add(b"{}\nno").unwrap_err().to_string().contains("line 2"));
        all.begin("records.jsonl", b"{\"a\":1}\n{\"a\":").unwrap();
        assert_eq!(all.of("records.jsonl"), ["{\"a\":1}"], "a line that a kill cut is left out");
        let refused = all.begin("records.jsonl", b"{}\n<html>\n").unwrap_err().to_string();
        assert!(refused.starts_with("records.jsonl:2: expected a line of JSON"), "{refused}");
    }

    #[test]
    fn what_a_lost_machine_had_not_sent_is_kept_but_for_trials_that_another_ran() {
        let (one, two, three, again) = (record("1", 1), record("2", 1), record("3", 1), record("2", 7));
        let local = lines(&[&one, &two, &three]);
        assert_eq!(unsent(&local, &lines(&[&one])), [two.clone(), three.clone()]);
        assert_eq!(unsent(&local, &lines(&[&one, &again])), [three], "2 was run elsewhere");
        // A failed trial that this machine ran again stands twice, and both lines are its own.
        assert_eq!(unsent(&lines(&[&two, &again]), &lines(&[&two])), [again]);
    }

    #[test]
    fn names_have_numbers_that_sort() {
        assert_eq!(name(7), "segments/00000007.jsonl");
        assert_eq!((number(&name(7)), number("segments/x.jsonl"), number("records.jsonl")), (Some(7), None, None));
        // Names that no closeread gives: after the last number there would be none.
        assert_eq!((number("segments/7.jsonl"), number(&name(u64::MAX))), (None, None));
    }

    #[test]
    fn only_whole_lines_behind_a_line_are_new() {
        let new = |text: &str, from| {
            let lines = new_lines(&mut io::Cursor::new(text), from).unwrap();
            lines.map(|bytes| String::from_utf8(bytes).unwrap())
        };
        assert_eq!(new("{}\n[1]\n[", 0).as_deref(), Some("{}\n[1]\n"));
        assert_eq!(new("{}\n[1]\n[", 3).as_deref(), Some("[1]\n"));
        assert_eq!(new("{}\n", 3).as_deref(), Some(""));
        assert_eq!(new("[1, 2]\n[3]\n", 3), None, "another file, which is longer");
        assert_eq!(new("{}\n", 7), None, "another file, which is shorter");
    }
}
