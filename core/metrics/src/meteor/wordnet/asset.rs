//! The bytes of the WordNet asset. `xtask/src/wordnet.rs` writes what this reads.

use super::data::{Exceptions, Lists, MAGIC, Names, PartOfSpeech, WordNet, WordNetError, compare_lower};
use std::cmp::Ordering;

/// Bytes of the longest text; without a bound, texts that share all of the one before could fill the memory.
const LONGEST: usize = 255;

/// Reads the whole asset; the format stands in `core/metrics/assets/wordnet/README.md`.
pub(super) fn read(bytes: &[u8]) -> Result<WordNet, WordNetError> {
    if !bytes.starts_with(MAGIC.as_bytes()) {
        return Err(WordNetError::NotTheAsset);
    }
    let mut reader = Reader { bytes, at: MAGIC.len() };
    let names = reader.names()?;
    let mut exceptions = Exceptions::default();
    let mut part = |at| reader.part_of_speech(at, names.len(), &mut exceptions);
    let parts = [part(0)?, part(1)?, part(2)?, part(3)?];
    if reader.at < bytes.len() {
        return Err(reader.invalid("the end was expected"));
    }
    Ok(WordNet { names, exceptions, parts })
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    fn names(&mut self) -> Result<Names, WordNetError> {
        let n = self.number("the names")?;
        let mut names = Names::default();
        let mut name = String::new();
        for _ in 0..n {
            let previous = name.clone();
            self.text_after(&previous, &mut name, "a name")?;
            let by_form = compare_lower(&previous, &name.to_ascii_lowercase());
            if by_form.then_with(|| previous.cmp(&name)) != Ordering::Less {
                return Err(self.invalid("names must ascend by their lower-case forms"));
            }
            names.text.push_str(&name);
            names.single_words.push(!name.contains('_'));
            names.ends.push(u32::try_from(names.text.len()).map_err(|_| self.invalid("too many names"))?);
        }
        Ok(names)
    }

    fn part_of_speech(
        &mut self,
        part: usize,
        n_names: usize,
        exceptions: &mut Exceptions,
    ) -> Result<PartOfSpeech, WordNetError> {
        self.exceptions(part, exceptions)?;
        let members = self.synsets(n_names)?;
        let synsets_of_name = inverted(&members, n_names);
        Ok(PartOfSpeech { members, synsets_of_name })
    }

    fn exceptions(&mut self, part: usize, exceptions: &mut Exceptions) -> Result<(), WordNetError> {
        let n = self.number("the exceptions")?;
        let (mut form, mut base) = (String::new(), String::new());
        for _ in 0..n {
            let previous = form.clone();
            self.text_after(&previous, &mut form, "an irregular form")?;
            let n_bases = self.number("the base forms")?;
            let mut bases = Vec::new();
            for _ in 0..n_bases {
                self.text_after(&form, &mut base, "a base form")?;
                bases.push(base.as_str().into());
            }
            exceptions.entry(form.as_str().into()).or_default()[part] = Some(bases);
        }
        Ok(())
    }

    fn synsets(&mut self, n_names: usize) -> Result<Lists, WordNetError> {
        let n = self.number("the synsets")?;
        let mut lists = Lists::default();
        let mut first = 0u32;
        for _ in 0..n {
            let n_members = self.number("a synset")?;
            let mut id = first;
            for position in 0..n_members {
                let step = self.number("a synset")?;
                id = id
                    .checked_add(step)
                    .filter(|id| (*id as usize) < n_names && (position == 0 || step > 0))
                    .ok_or_else(|| self.invalid("a synset must name ascending names that exist"))?;
                if position == 0 {
                    first = id;
                }
                lists.items.push(id);
            }
            lists.ends.push(lists.items.len() as u32);
        }
        Ok(lists)
    }

    /// Reads a text that is written as what it shares with the start of `before`, and the rest.
    fn text_after(&mut self, before: &str, text: &mut String, what: &'static str) -> Result<(), WordNetError> {
        let shared = self.number(what)? as usize;
        let len = self.number(what)? as usize;
        if shared.saturating_add(len) > LONGEST {
            return Err(self.invalid("a text of at most 255 bytes was expected"));
        }
        let start = before.get(..shared).ok_or_else(|| self.invalid("more is shared than the text before holds"))?;
        let rest = self.take(len, what)?;
        let rest = str::from_utf8(rest).ok().filter(|rest| rest.is_ascii());
        let rest = rest.ok_or_else(|| self.invalid("ASCII was expected"))?;
        text.clear();
        text.push_str(start);
        text.push_str(rest);
        Ok(())
    }

    /// A number in base 128, lowest digit first; all bytes but the last have their highest bit set.
    fn number(&mut self, what: &'static str) -> Result<u32, WordNetError> {
        let mut number = 0u32;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.take(1, what)?[0];
            let digit = u32::from(byte & 0x7f);
            if shift == 28 && digit > 0xf {
                break;
            }
            number |= digit << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(self.invalid("a number of at most 32 bits was expected"))
    }

    fn take(&mut self, len: usize, what: &'static str) -> Result<&'b [u8], WordNetError> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..len).ok_or(WordNetError::Truncated { at: self.bytes.len(), what })?;
        self.at += len;
        Ok(taken)
    }

    fn invalid(&self, what: &'static str) -> WordNetError {
        WordNetError::Invalid { at: self.at, what }
    }
}

/// The synsets of each name, from the names of each synset.
fn inverted(members: &Lists, n_names: usize) -> Lists {
    let mut ends = vec![0u32; n_names];
    for id in &members.items {
        ends[*id as usize] += 1;
    }
    let mut total = 0;
    for end in &mut ends {
        let n = *end;
        *end = total;
        total += n;
    }
    // Each end is still the start of its list, and moves up as the list is filled.
    let mut items = vec![0u32; members.items.len()];
    for synset in 0..members.ends.len() as u32 {
        for id in members.list(synset) {
            let end = &mut ends[*id as usize];
            items[*end as usize] = synset;
            *end += 1;
        }
    }
    Lists { ends, items }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names `auto`, `Car`, `motor_car`; the noun `autos` is `auto`; one synset of nouns with all three names.
    fn tiny() -> Vec<u8> {
        let mut bytes = MAGIC.as_bytes().to_vec();
        bytes.extend(b"\x03\x00\x04auto\x00\x03Car\x00\x09motor_car");
        bytes.extend(b"\x01\x00\x05autos\x01\x04\x00\x01\x03\x00\x01\x01");
        bytes.extend([0; 6]);
        bytes
    }

    #[test]
    fn the_format_is_as_described() {
        let net = read(&tiny()).expect("a well-formed asset");
        for word in ["auto", "autos", "car", "CARS", "motor_car"] {
            assert_eq!(net.synonyms(word), ["Car", "auto"], "{word}");
        }
        assert!(net.synonyms("autoss").is_empty());
        assert_eq!((net.id("Car"), net.id("car")), (Some(1), None));
    }

    #[test]
    fn no_bytes_make_it_panic() {
        assert_eq!(read(b"PK\x03\x04").expect_err("no asset"), WordNetError::NotTheAsset);
        let whole = tiny();
        for end in MAGIC.len()..whole.len() {
            let error = read(&whole[..end]).expect_err("it ends too early");
            assert!(matches!(error, WordNetError::Truncated { .. }), "{end}: {error}");
        }
        for at in MAGIC.len()..whole.len() {
            for byte in 0..=255 {
                let mut changed = whole.clone();
                changed[at] = byte;
                if let Ok(net) = read(&changed) {
                    net.synonyms("autos");
                }
            }
        }
        let mut longer = whole.clone();
        longer.push(0);
        let error = read(&longer).expect_err("a byte too many").to_string();
        assert_eq!(
            error,
            format!(
                "WordNet asset, byte {}: the end was expected; make it again with `cargo xtask wordnet`",
                whole.len()
            )
        );
    }
}
