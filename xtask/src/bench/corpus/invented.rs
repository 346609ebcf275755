//! A corpus of any length whose words are as frequent as those of prose: the word of rank r comes about 1/r as often as the first.

use super::super::engine::text::write_lines;
use crate::process::root;
use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use std::collections::HashMap;
use std::path::Path;

/// Bytes per token of cl100k in these texts.
const BYTES_A_TOKEN: usize = 4;
const TOKENS_A_DOCUMENT: usize = 12_500;
/// Different words; the less frequent are made of two that are frequent.
const N_WORDS: usize = 200_000;
const WORDS_A_SENTENCE: usize = 15;
/// Number of words of a query; they are neighbours in a document.
const WORDS_A_QUERY: usize = 10;

/// A SplitMix64 generator of random numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// Returns a random number from 0 up to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The words, by rank.
struct Vocabulary(Vec<String>);

impl Vocabulary {
    /// The words of the sample story by how frequent they are there, then pairs of them.
    fn of_sample() -> Result<Self> {
        let path = root().join("sample/the-loan-of-the-bell.txt");
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut counts: HashMap<String, usize> = HashMap::new();
        for word in text.to_lowercase().split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() > 1) {
            *counts.entry(word.to_owned()).or_default() += 1;
        }
        let mut words: Vec<(String, usize)> = counts.into_iter().collect();
        words.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.cmp(b)));
        let mut words: Vec<String> = words.into_iter().map(|(word, _)| word).collect();
        let n_known = words.len();
        ensure!(n_known > 500, "the sample story has many words");
        let mut random = Random(1);
        while words.len() < N_WORDS {
            let pair = format!("{}{}", words[random.below(n_known)], words[random.below(n_known)]);
            words.push(pair);
        }
        Ok(Self(words))
    }

    /// Draws a word by Zipf's law: the logarithm of a rank is spread evenly.
    fn draw(&self, random: &mut Random) -> &str {
        let rank = (self.0.len() as f64).powf(random.share());
        &self.0[(rank as usize).min(self.0.len()) - 1]
    }
}

/// Writes a benchmark folder of at least so many tokens, and queries, a line each.
pub(super) fn make(folder: &Path, tokens: usize, queries: &Path, n_queries: usize) -> Result<usize> {
    let vocabulary = Vocabulary::of_sample()?;
    let n_documents = tokens.div_ceil(TOKENS_A_DOCUMENT);
    let texts = folder.join("texts");
    std::fs::create_dir_all(&texts).with_context(|| format!("cannot create {}", texts.display()))?;
    let mut asked = String::new();
    for n in 0..n_documents {
        let text = document(&vocabulary, n as u64);
        if n % (n_documents / n_queries).max(1) == 0 {
            let words: Vec<&str> = text.split([' ', '.', '\n']).filter(|word| !word.is_empty()).collect();
            let of_document = n_queries.div_ceil(n_documents);
            for query in 0..of_document {
                let at = query * (words.len() - WORDS_A_QUERY) / of_document;
                asked.push_str(&words[at..at + WORDS_A_QUERY].join(" "));
                asked.push('\n');
            }
        }
        std::fs::write(texts.join(format!("{n}.txt")), text).context("cannot write a text of the corpus")?;
    }
    let ids: Vec<String> = (0..n_documents).map(|n| format!("d{n}")).collect();
    let listed = ids
        .iter()
        .enumerate()
        .map(|(n, id)| json!({"id": id, "title": id, "language": "en", "path": format!("texts/{n}.txt")}));
    write_lines(&folder.join("documents.jsonl"), listed)?;
    let item = json!({"id": "q", "documents": ids, "task": "generative", "question": "Who?", "answers": ["Nobody."]});
    write_lines(&folder.join("items.jsonl"), std::iter::once(item))?;
    let asked: String = asked.lines().take(n_queries).map(|line| format!("{line}\n")).collect();
    std::fs::write(queries, asked).context("cannot write the queries")?;
    Ok(n_documents)
}

fn document(vocabulary: &Vocabulary, seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x5851_F42D_4C95_7F2D) ^ 0x9E37);
    let mut text = String::with_capacity(TOKENS_A_DOCUMENT * BYTES_A_TOKEN + 200);
    while text.len() < TOKENS_A_DOCUMENT * BYTES_A_TOKEN {
        for word in 0..WORDS_A_SENTENCE {
            let drawn = vocabulary.draw(&mut random);
            match word {
                0 => text.extend(drawn.chars().take(1).flat_map(char::to_uppercase).chain(drawn.chars().skip(1))),
                _ => text.extend([" ", drawn]),
            }
        }
        text.push_str(".\n");
    }
    text
}
