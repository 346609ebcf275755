//! `cargo xtask wordnet`: makes the compact WordNet of METEOR from WordNet's own dictionary files.
//!
//! The format stands in core/metrics/assets/wordnet/README.md; core/metrics/src/meteor/wordnet/asset.rs reads what this writes.

use crate::process::{program, root, run as run_program, target_dir};
use anyhow::{Context as _, Result, bail, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const ASSET: &str = "core/metrics/assets/wordnet/wordnet-3.0.bin.gz";
const MAGIC: &[u8] = b"closeread wordnet 1\n";
/// The parts of speech, in the order of the asset.
const PARTS: [&str; 4] = ["noun", "verb", "adj", "adv"];
/// Path where Debian's package `wordnet-base` puts the dictionary.
const INSTALLED: &str = "usr/share/wordnet";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder of WordNet 3.0's data.noun, index.noun, noun.exc and so on. Without it Debian's package
    /// wordnet-base: as installed, else downloaded with apt-get under the target folder.
    #[arg(long, value_name = "DIR")]
    dict: Option<PathBuf>,
    /// Compare with the existing asset, and write nothing.
    #[arg(long)]
    check: bool,
}

/// Makes the asset and writes it, or compares it with the existing one.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let dict = match &args.dict {
        Some(dict) => dict.clone(),
        None => debian_dict()?,
    };
    let parts = PARTS.map(|part| Part::read(&dict, part));
    let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
    let bytes = encode(&parts)?;
    let path = root().join(ASSET);
    if !args.check {
        let unpacked = path.with_extension("");
        std::fs::write(&unpacked, &bytes).with_context(|| format!("cannot write {}", unpacked.display()))?;
        run_program(program("gzip").arg("-9nf").arg(&unpacked))?;
        println!("{ASSET}: {} bytes from {}, packed", bytes.len(), dict.display());
        return Ok(true);
    }
    let unpack = program("gzip").arg("-dc").arg(&path).output().context("cannot start gzip")?;
    ensure!(unpack.status.success(), "cannot unpack {ASSET}; make it: cargo xtask wordnet");
    let same = unpack.stdout == bytes;
    println!("{ASSET}: {} what {} gives", if same { "is" } else { "is NOT" }, dict.display());
    Ok(same)
}

/// The dictionary as Debian installs it, from a downloaded package if it is not installed.
pub(crate) fn debian_dict() -> Result<PathBuf> {
    let installed = Path::new("/").join(INSTALLED);
    if installed.join("data.noun").exists() {
        return Ok(installed);
    }
    let folder = target_dir()?.join("wordnet");
    let dict = folder.join(INSTALLED);
    if !dict.join("data.noun").exists() {
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        println!("set-up: apt-get download wordnet-base");
        let hint = "on a system without apt-get, name a folder of WordNet 3.0's files with --dict";
        run_program(program("apt-get").args(["download", "--quiet", "wordnet-base"]).current_dir(&folder))
            .context(hint)?;
        let package = std::fs::read_dir(&folder)?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
            .with_context(|| format!("apt-get left no package in {}", folder.display()))?;
        run_program(program("dpkg-deb").arg("-x").arg(package).arg(&folder))?;
    }
    Ok(dict)
}

/// One part of speech.
struct Part {
    /// Irregular forms with their base forms.
    exceptions: BTreeMap<String, Vec<String>>,
    /// The names of each synset; synsets in which every name has several words are left out.
    synsets: BTreeSet<BTreeSet<String>>,
}

impl Part {
    fn read(dict: &Path, part: &str) -> Result<Self> {
        let by_offset = synsets(&read(dict, &format!("data.{part}"))?)?;
        check_index(&read(dict, &format!("index.{part}"))?, &by_offset)?;
        let exceptions = read(dict, &format!("{part}.exc"))?;
        let exceptions = exceptions.text.lines().filter_map(|line| {
            let mut words = line.split_ascii_whitespace().map(str::to_owned);
            Some((words.next()?, words.collect()))
        });
        let exceptions = exceptions.collect();
        // What is looked up in a synset is its single words: without one it says nothing.
        let synsets = by_offset.into_values().filter(|names| names.iter().any(|name| !name.contains('_'))).collect();
        Ok(Self { exceptions, synsets })
    }
}

struct File {
    name: String,
    text: String,
}

fn read(dict: &Path, name: &str) -> Result<File> {
    let path = dict.join(name);
    let text = std::fs::read_to_string(&path).with_context(|| {
        format!("cannot read {}; expected the folder of WordNet 3.0's dictionary files", path.display())
    })?;
    ensure!(text.is_ascii(), "{}: not ASCII, so not WordNet 3.0", path.display());
    Ok(File { name: name.to_owned(), text })
}

/// Lines of a data or index file with their numbers; those of the licence start with blanks.
fn records(file: &File) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(file.text.lines()).filter(|(_, line)| !line.starts_with(' '))
}

/// The names of each synset by its offset, without the markers of syntax (`galore(ip)`).
fn synsets(data: &File) -> Result<BTreeMap<u32, BTreeSet<String>>> {
    let mut synsets = BTreeMap::new();
    for (number, line) in records(data) {
        let read = || -> Option<(u32, BTreeSet<String>)> {
            let mut fields = line.split(' ');
            let offset = fields.next()?.parse().ok()?;
            let n_names = usize::from_str_radix(fields.nth(2)?, 16).ok()?;
            let names = (0..n_names).map(|_| {
                let name = fields.next()?;
                fields.next()?;
                Some(name.split('(').next()?.to_owned())
            });
            Some((offset, names.collect::<Option<_>>()?))
        };
        let (offset, names) =
            read().with_context(|| format!("{}, line {number}: not a synset as wndb(5) describes it", data.name))?;
        synsets.insert(offset, names);
    }
    Ok(synsets)
}

/// Compares NLTK's index of words with the synsets, from which the asset's reader makes its own index.
fn check_index(index: &File, synsets: &BTreeMap<u32, BTreeSet<String>>) -> Result<()> {
    let mut listed: BTreeSet<(&str, u32)> = BTreeSet::new();
    for (number, line) in records(index) {
        let read = || -> Option<Vec<(&str, u32)>> {
            let fields: Vec<_> = line.split_ascii_whitespace().collect();
            let n_synsets: usize = fields.get(2)?.parse().ok()?;
            let offsets = fields.get(fields.len().checked_sub(n_synsets)?..)?;
            offsets.iter().map(|offset| Some((fields[0], offset.parse().ok()?))).collect()
        };
        let found =
            read().with_context(|| format!("{}, line {number}: not an entry as wndb(5) describes it", index.name))?;
        listed.extend(found);
    }
    let lower: Vec<(String, u32)> = synsets
        .iter()
        .flat_map(|(offset, names)| names.iter().map(|name| (name.to_ascii_lowercase(), *offset)))
        .collect();
    let named: BTreeSet<(&str, u32)> = lower.iter().map(|(name, offset)| (name.as_str(), *offset)).collect();
    if let Some((lemma, offset)) = listed.symmetric_difference(&named).next() {
        bail!(
            "{}: `{lemma}` and synset {offset} belong together there or in the data file, but not in both",
            index.name
        );
    }
    Ok(())
}

fn encode(parts: &[Part]) -> Result<Vec<u8>> {
    let names: BTreeSet<(String, &str)> = parts
        .iter()
        .flat_map(|part| part.synsets.iter().flatten())
        .map(|name| (name.to_ascii_lowercase(), name.as_str()))
        .collect();
    let ids: BTreeMap<&str, u32> = names.iter().map(|(_, name)| *name).zip(0..).collect();
    let mut out = Writer { bytes: MAGIC.to_vec() };
    out.number(names.len());
    let mut previous = "";
    for (_, name) in &names {
        out.text_after(previous, name)?;
        previous = name;
    }
    for part in parts {
        out.exceptions(&part.exceptions)?;
        let synsets = part.synsets.iter().map(|names| names.iter().map(|name| ids[name.as_str()]).collect());
        out.synsets(&synsets.collect());
    }
    Ok(out.bytes)
}

struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn exceptions(&mut self, exceptions: &BTreeMap<String, Vec<String>>) -> Result<()> {
        self.number(exceptions.len());
        let mut previous = "";
        for (form, bases) in exceptions {
            self.text_after(previous, form)?;
            self.number(bases.len());
            for base in bases {
                self.text_after(form, base)?;
            }
            previous = form;
        }
        Ok(())
    }

    fn synsets(&mut self, synsets: &BTreeSet<BTreeSet<u32>>) {
        self.number(synsets.len());
        let mut first = 0;
        for synset in synsets {
            self.number(synset.len());
            let mut previous = first;
            for (position, id) in synset.iter().enumerate() {
                self.number((id - previous) as usize);
                previous = *id;
                if position == 0 {
                    first = *id;
                }
            }
        }
    }

    fn text_after(&mut self, before: &str, text: &str) -> Result<()> {
        ensure!(text.len() <= 255, "`{text}` is longer than the 255 bytes that the asset allows");
        let shared = before.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
        self.number(shared);
        self.number(text.len() - shared);
        self.bytes.extend(&text.as_bytes()[shared..]);
        Ok(())
    }

    fn number(&mut self, mut number: usize) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> File {
        File { name: "data.noun".to_owned(), text: text.to_owned() }
    }

    #[test]
    fn synsets_lose_their_markers() {
        let data = file("  1 licence\n00000012 05 a 02 galore(ip) 0 A-one 1 000 | gloss\n");
        let found = synsets(&data).expect("a synset");
        assert_eq!(found[&12], BTreeSet::from(["galore".to_owned(), "A-one".to_owned()]));
        let error = synsets(&file("00000012 05 a 02 galore 0\n")).expect_err("one name is missing").to_string();
        assert_eq!(error, "data.noun, line 1: not a synset as wndb(5) describes it");
    }

    #[test]
    fn an_index_that_does_not_fit_is_refused() {
        let synsets = BTreeMap::from([(12, BTreeSet::from(["Car".to_owned()]))]);
        check_index(&file("car n 1 0 1 0 00000012  \n"), &synsets).expect("it fits");
        let error = check_index(&file("cab n 1 0 1 0 00000012  \n"), &synsets).expect_err("another lemma").to_string();
        assert!(error.contains("`cab` and synset 12"), "{error}");
    }

    #[test]
    fn the_asset_is_as_its_readme_says() {
        let synset = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let noun = Part {
            exceptions: BTreeMap::from([("autos".to_owned(), vec!["auto".to_owned()])]),
            synsets: BTreeSet::from([synset(&["auto", "Car"]), synset(&["Car"])]),
        };
        let bytes = encode(&[noun]).expect("short names");
        let expected: &[u8] = b"\x02\x00\x04auto\x00\x03Car\x01\x00\x05autos\x01\x04\x00\x02\x02\x00\x01\x01\x01";
        assert_eq!(bytes.strip_prefix(MAGIC), Some(expected));
    }
}
