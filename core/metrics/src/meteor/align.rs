//! Alignment: which words match which, and what that is worth.

use super::WordNet;
use super::porter::stem;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The matches between the words of a prediction and those of a reference.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Alignment {
    /// `(word of the prediction, word of the reference)`, both from 0, ascending by the first; no word occurs twice.
    pub matches: Vec<(usize, usize)>,
    /// Number of matches of equal words.
    pub n_exact: usize,
    /// Number of matches of other words with equal stems.
    pub n_stem: usize,
    /// Number of matches of words whose stems are synonyms.
    pub n_synonym: usize,
    /// Number of words of the prediction.
    pub n_prediction_words: usize,
    /// Number of words of the reference.
    pub n_reference_words: usize,
}

impl Alignment {
    /// Runs of matches that are adjacent in both texts; 0 if there is no match.
    pub fn n_chunks(&self) -> usize {
        let breaks = self.matches.windows(2).filter(|pair| pair[1] != (pair[0].0 + 1, pair[0].1 + 1)).count();
        if self.matches.is_empty() { 0 } else { breaks + 1 }
    }

    /// METEOR of this alignment, in 0..=1: the mean of precision and recall with weight 0.9 on recall, less up to half
    /// for fragments. 0 without a match.
    pub fn score(&self) -> f64 {
        const ALPHA: f64 = 0.9;
        const BETA: f64 = 3.0;
        const GAMMA: f64 = 0.5;
        if self.matches.is_empty() {
            return 0.0;
        }
        let n_matches = self.matches.len() as f64;
        let precision = n_matches / self.n_prediction_words as f64;
        let recall = n_matches / self.n_reference_words as f64;
        let mean = (precision * recall) / (ALPHA * precision + (1.0 - ALPHA) * recall);
        let penalty = GAMMA * libm::pow(self.n_chunks() as f64 / n_matches, BETA);
        (1.0 - penalty) * mean
    }
}

/// Marks the absence of a number: of a word, of a name, of a position.
const NONE: u32 = u32::MAX;

/// The words seen so far by number, with what is known about each. Knowing more changes no result.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    ids: FxHashMap<Arc<str>, u32>,
    entries: Vec<Entry>,
    /// Last position of each word in the reference not yet matched; [`NONE`] between two alignments.
    last_of_word: Vec<u32>,
    /// Last position of each name of WordNet in the reference not yet matched; [`NONE`] between two alignments.
    last_of_name: Vec<u32>,
}

#[derive(Debug)]
struct Entry {
    word: Arc<str>,
    /// The number of the word's stem.
    stem: Option<u32>,
    /// The number of the name in WordNet that is exactly this word, [`NONE`] if there is none.
    name: Option<u32>,
    /// Numbers of the names of synonyms.
    synonyms: Option<Box<[u32]>>,
}

impl Vocabulary {
    /// Forgets everything once it has grown beyond what books hold in different words.
    pub(super) fn shrink(&mut self) {
        const MOST_WORDS: usize = 1 << 18;
        if self.entries.len() > MOST_WORDS {
            *self = Self::default();
        }
    }

    /// The number of `word`, which must be lower-cased.
    pub(super) fn id(&mut self, word: &str) -> u32 {
        if let Some(id) = self.ids.get(word) {
            return *id;
        }
        let id = self.entries.len() as u32;
        let word: Arc<str> = word.into();
        self.ids.insert(word.clone(), id);
        self.entries.push(Entry { word, stem: None, name: None, synonyms: None });
        id
    }

    /// Matches words, then stems of the words left, then synonyms of the stems left. Each stage goes through the
    /// prediction from its end, and each word takes the last word left of the reference that it matches.
    pub(super) fn align(&mut self, prediction: &[u32], reference: &[u32], wordnet: Option<&WordNet>) -> Alignment {
        let mut matched = vec![NONE; prediction.len()];
        let mut left = Left {
            prediction: prediction.iter().copied().zip(0..).map(|(id, at)| Place { at, id }).collect(),
            reference: reference.iter().copied().zip(0..).map(|(id, at)| Place { at, id }).collect(),
        };
        let n_exact = self.match_equal(&mut left, &mut matched);
        for place in left.prediction.iter_mut().chain(&mut left.reference) {
            place.id = self.stem(place.id);
        }
        let n_stem = self.match_equal(&mut left, &mut matched);
        let n_synonym = wordnet.map_or(0, |wordnet| self.match_synonyms(&left, &mut matched, wordnet));

        let matches = matched.iter().enumerate().filter(|(_, to)| **to != NONE);
        Alignment {
            matches: matches.map(|(from, to)| (from, *to as usize)).collect(),
            n_exact,
            n_stem,
            n_synonym,
            n_prediction_words: prediction.len(),
            n_reference_words: reference.len(),
        }
    }

    /// Matches equal numbers, takes both sides out of `left`, and says how many.
    fn match_equal(&mut self, left: &mut Left, matched: &mut [u32]) -> usize {
        if left.prediction.is_empty() || left.reference.is_empty() {
            return 0;
        }
        self.last_of_word.resize(self.entries.len(), NONE);
        // Positions with equal numbers are chained, last first.
        let mut before = vec![NONE; left.reference.len()];
        for (position, place) in left.reference.iter().enumerate() {
            before[position] = std::mem::replace(&mut self.last_of_word[place.id as usize], position as u32);
        }
        let n_before = left.prediction.len();
        let mut taken = vec![false; left.reference.len()];
        for place in left.prediction.iter_mut().rev() {
            let last = &mut self.last_of_word[place.id as usize];
            if *last != NONE {
                let position = *last as usize;
                *last = before[position];
                taken[position] = true;
                matched[place.at as usize] = left.reference[position].at;
            }
        }
        for place in &left.reference {
            self.last_of_word[place.id as usize] = NONE;
        }
        left.prediction.retain(|place| matched[place.at as usize] == NONE);
        let mut taken = taken.iter();
        left.reference.retain(|_| !taken.next().expect("one a word of the reference"));
        n_before - left.prediction.len()
    }

    /// Matches each stem with the last stem left that is one of its synonyms, and says how many.
    ///
    /// Equal stems, which NLTK would match here as well, have all been matched before.
    fn match_synonyms(&mut self, left: &Left, matched: &mut [u32], wordnet: &WordNet) -> usize {
        self.last_of_name.resize(wordnet.n_names(), NONE);
        let mut before = vec![NONE; left.reference.len()];
        let mut any = false;
        for (position, place) in left.reference.iter().enumerate() {
            let name = self.name(place.id, wordnet);
            if name != NONE {
                before[position] = std::mem::replace(&mut self.last_of_name[name as usize], position as u32);
                any = true;
            }
        }
        if !any {
            return 0;
        }
        let mut n = 0;
        for place in left.prediction.iter().rev() {
            let entry = &mut self.entries[place.id as usize];
            let synonyms = entry.synonyms.get_or_insert_with(|| wordnet.synonym_ids(&entry.word).into());
            let lasts = synonyms.iter().map(|name| (self.last_of_name[*name as usize], *name));
            let Some((position, name)) = lasts.filter(|(position, _)| *position != NONE).max() else { continue };
            self.last_of_name[name as usize] = before[position as usize];
            matched[place.at as usize] = left.reference[position as usize].at;
            n += 1;
        }
        for place in &left.reference {
            let name = self.name(place.id, wordnet);
            if name != NONE {
                self.last_of_name[name as usize] = NONE;
            }
        }
        n
    }

    fn stem(&mut self, id: u32) -> u32 {
        if let Some(stem) = self.entries[id as usize].stem {
            return stem;
        }
        let stem = stem(&self.entries[id as usize].word);
        let stem = self.id(&stem);
        self.entries[id as usize].stem = Some(stem);
        stem
    }

    fn name(&mut self, id: u32, wordnet: &WordNet) -> u32 {
        let entry = &mut self.entries[id as usize];
        *entry.name.get_or_insert_with(|| wordnet.id(&entry.word).unwrap_or(NONE))
    }
}

/// The words that no stage has matched yet, ascending by place.
struct Left {
    prediction: Vec<Place>,
    reference: Vec<Place>,
}

/// A word and where it stands.
#[derive(Clone, Copy)]
struct Place {
    at: u32,
    id: u32,
}
