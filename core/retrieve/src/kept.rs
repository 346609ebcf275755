//! Indexes as bytes that are read where they lie, such as in a mapped file: nothing but passages' places and lengths is copied.

use super::IndexError;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Version of the format, raised whenever the same books and passages would lead to other bytes.
pub const KEPT_FORMAT: u32 = 2;

/// Shared bytes that another owner holds, or a part of them. Cheap to clone.
#[derive(Clone)]
pub struct KeptBytes {
    whole: Arc<dyn AsRef<[u8]> + Send + Sync>,
    range: Range<usize>,
}

impl KeptBytes {
    /// Wraps all the bytes of an index. Bytes that change while an index reads them lead to wrong rankings or a panic,
    /// so their holder lets nobody write to them.
    pub fn new(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        let range = 0..bytes.as_ref().len();
        Self { whole: Arc::new(bytes), range }
    }

    /// A part of these; `None` if they do not reach so far.
    pub fn part(&self, range: Range<usize>) -> Option<Self> {
        let (start, end) = (self.range.start.checked_add(range.start)?, self.range.start.checked_add(range.end)?);
        (start <= end && end <= self.range.end).then(|| Self { whole: Arc::clone(&self.whole), range: start..end })
    }

    /// Returns them.
    pub fn bytes(&self) -> &[u8] {
        &(*self.whole).as_ref()[self.range.clone()]
    }
}

impl fmt::Debug for KeptBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.range.len())
    }
}

/// Takes one part after the other from the front.
pub(super) struct Reader {
    bytes: KeptBytes,
    at: usize,
}

impl Reader {
    /// Begins to read behind the eight bytes that say what the file is.
    pub(super) fn new(bytes: KeptBytes, magic: &[u8; 8]) -> Result<Self, IndexError> {
        match bytes.bytes().starts_with(magic) {
            true => Ok(Self { bytes, at: magic.len() }),
            false => Err(IndexError::Kept("it begins otherwise than an index")),
        }
    }

    pub(super) fn number(&mut self) -> Result<usize, IndexError> {
        let part = self.part(8, 1)?;
        let number = part.bytes().first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        number.and_then(|number| usize::try_from(number).ok()).ok_or(IndexError::Kept("a number in it is too large"))
    }

    /// Takes `n` entries of `size` bytes.
    pub(super) fn part(&mut self, size: usize, n: usize) -> Result<KeptBytes, IndexError> {
        let end = size.checked_mul(n).and_then(|size| self.at.checked_add(size));
        let part = end.and_then(|end| self.bytes.part(self.at..end)).ok_or(IndexError::Kept("it ends too early"))?;
        self.at += part.bytes().len();
        Ok(part)
    }

    pub(super) fn finish(self) -> Result<(), IndexError> {
        match self.at == self.bytes.bytes().len() {
            true => Ok(()),
            false => Err(IndexError::Kept("it goes on behind its end")),
        }
    }
}

/// The numbers of which `bytes` are made.
pub(super) fn numbers(bytes: &[u8]) -> impl ExactSizeIterator<Item = u32> + '_ {
    bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes))
}

/// Bytes of a word's entry: where its letters end, how many passages hold it, where its postings end.
const N_ENTRY: usize = 16;

/// Words in the order of their bytes, each with the passages that hold it.
#[derive(Debug, Clone)]
pub(super) struct KeptWords {
    entries: KeptBytes,
    letters: KeptBytes,
    postings: KeptBytes,
}

struct Entry {
    letters: Range<usize>,
    n: u32,
    postings: Range<usize>,
}

impl KeptWords {
    pub(super) fn read(
        from: &mut Reader,
        n_words: usize,
        n_letters: usize,
        n_postings: usize,
    ) -> Result<Self, IndexError> {
        let (entries, letters) = (from.part(N_ENTRY, n_words)?, from.part(1, n_letters)?);
        let words = Self { entries, letters, postings: from.part(1, n_postings)? };
        let (mut letters, mut postings) = (0, 0);
        for idx in 0..n_words {
            let entry = words.entry(idx);
            if entry.letters.end < letters || entry.postings.end < postings {
                return Err(IndexError::Kept("its words do not follow each other"));
            }
            (letters, postings) = (entry.letters.end, entry.postings.end);
        }
        match (letters, postings) == (n_letters, n_postings) {
            true => Ok(words),
            false => Err(IndexError::Kept("its words end too early")),
        }
    }

    /// Writes words that ascend, behind how many there are, and how many bytes their letters and postings have.
    pub(super) fn write<'w>(words: impl Iterator<Item = (&'w [u8], u32, &'w [u8])>, to: &mut Vec<u8>) -> [usize; 3] {
        let (mut n_words, mut letters, mut postings) = (0, Vec::new(), Vec::new());
        for (word, n, bytes) in words {
            n_words += 1;
            letters.extend_from_slice(word);
            postings.extend_from_slice(bytes);
            to.extend(u32::try_from(letters.len()).expect("less than 4 GiB of words").to_le_bytes());
            to.extend(n.to_le_bytes());
            to.extend((postings.len() as u64).to_le_bytes());
        }
        to.extend_from_slice(&letters);
        to.extend_from_slice(&postings);
        [n_words, letters.len(), postings.len()]
    }

    fn len(&self) -> usize {
        self.entries.bytes().len() / N_ENTRY
    }

    fn ends(&self, idx: usize) -> (usize, u32, usize) {
        let entry = &self.entries.bytes()[idx * N_ENTRY..][..N_ENTRY];
        let mut halves = numbers(entry).map(u64::from);
        let mut half = || halves.next().expect("an entry has four");
        let (letters, n) = (half(), half());
        let postings = half() | half() << 32;
        (letters as usize, n as u32, usize::try_from(postings).unwrap_or(usize::MAX))
    }

    fn entry(&self, idx: usize) -> Entry {
        let (letters, n, postings) = self.ends(idx);
        let (letters_before, _, postings_before) = if idx == 0 { (0, 0, 0) } else { self.ends(idx - 1) };
        Entry { letters: letters_before..letters, n, postings: postings_before..postings }
    }

    /// Returns how many passages hold a word, and its postings.
    pub(super) fn get(&self, word: &str) -> Option<(u32, &[u8])> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let entry = self.entry(middle);
            match self.letters.bytes()[entry.letters].cmp(word.as_bytes()) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some((entry.n, &self.postings.bytes()[entry.postings])),
            }
        }
        None
    }

    /// Returns every word with its postings, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], u32, &[u8])> {
        (0..self.len()).map(|idx| {
            let Entry { letters, n, postings } = self.entry(idx);
            (&self.letters.bytes()[letters], n, &self.postings.bytes()[postings])
        })
    }
}
