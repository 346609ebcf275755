//! Stems after Porter, as NLTK's `PorterStemmer` cuts them in its default mode.
//!
//! M. F. Porter, *An algorithm for suffix stripping*, Program 14(3), 1980, with NLTK 3.9.1's extensions: a table of
//! irregular forms, words of one or two characters left alone, and changed rules for `-ies`, `-ied`, `-y`, `-alli`,
//! `-bli`, `-fulli` and `-logi`.

/// The stem of `word`, lower-cased.
///
/// Any text is a word: characters that are no English vowel count as consonants. NLTK ends in a `RecursionError` for
/// about a thousand times `y` in a row; this function gives the stem that its rules define.
pub fn stem(word: &str) -> String {
    let lower = word.to_lowercase();
    // NLTK looks up the word as it was given, so only lower-case forms are irregular.
    if let Some((_, irregular)) = IRREGULAR.iter().find(|(form, _)| *form == word) {
        return (*irregular).to_owned();
    }
    if word.chars().nth(2).is_none() {
        return lower;
    }
    let mut stem = Stem { chars: lower.chars().collect() };
    stem.step_1a();
    stem.step_1b();
    stem.step_1c();
    stem.step_2();
    stem.step_3();
    stem.step_4();
    stem.step_5a();
    stem.step_5b();
    stem.chars.into_iter().collect()
}

/// Forms that the rules get wrong, with their stems.
const IRREGULAR: [(&str, &str); 16] = [
    ("sky", "sky"),
    ("skies", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("news", "news"),
    ("innings", "inning"),
    ("inning", "inning"),
    ("outings", "outing"),
    ("outing", "outing"),
    ("cannings", "canning"),
    ("canning", "canning"),
    ("howe", "howe"),
    ("proceed", "proceed"),
    ("exceed", "exceed"),
    ("succeed", "succeed"),
];

/// A suffix and what stands in its place.
type Rule = (&'static str, &'static str);

const STEP_2: [Rule; 21] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
];

const STEP_3: [Rule; 7] =
    [("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")];

const STEP_4: [&str; 19] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
];

/// A word on its way to its stem.
struct Stem {
    chars: Vec<char>,
}

impl Stem {
    fn step_1a(&mut self) {
        if self.ends("ies") {
            let replacement = if self.chars.len() == 4 { "ie" } else { "i" };
            self.replace("ies", replacement);
        } else if self.ends("sses") {
            self.replace("sses", "ss");
        } else if self.ends("s") && !self.ends("ss") {
            self.replace("s", "");
        }
    }

    fn step_1b(&mut self) {
        if self.ends("ied") {
            let replacement = if self.chars.len() == 4 { "ie" } else { "i" };
            self.replace("ied", replacement);
            return;
        }
        if self.ends("eed") {
            if measure(self.before("eed")) > 0 {
                self.replace("eed", "ee");
            }
            return;
        }
        let Some(suffix) = ["ed", "ing"].into_iter().find(|s| self.ends(s) && has_vowel(self.before(s))) else {
            return;
        };
        self.replace(suffix, "");
        if self.ends("at") || self.ends("bl") || self.ends("iz") {
            self.chars.push('e');
        } else if ends_in_double_consonant(&self.chars) {
            if !self.chars.ends_with(&['l']) && !self.chars.ends_with(&['s']) && !self.chars.ends_with(&['z']) {
                self.chars.pop();
            }
        } else if self.ends("*d") {
            // NLTK writes its rule for double consonants as the suffix `*d`, and finds it as letters, too.
            self.replace("*d", "d");
        } else if measure(&self.chars) == 1 && ends_cvc(&self.chars) {
            self.chars.push('e');
        }
    }

    fn step_1c(&mut self) {
        let stem = self.before("y");
        if self.ends("y") && stem.len() > 1 && is_consonant(stem, stem.len() - 1) {
            self.replace("y", "i");
        }
    }

    fn step_2(&mut self) {
        while self.ends("alli") && measure(self.before("alli")) > 0 {
            self.replace("alli", "al");
        }
        if let Some((suffix, replacement)) = STEP_2.into_iter().find(|(suffix, _)| self.ends(suffix)) {
            if measure(self.before(suffix)) > 0 {
                self.replace(suffix, replacement);
            }
        } else if self.ends("logi") && measure(self.before("ogi")) > 0 {
            self.replace("logi", "log");
        }
    }

    fn step_3(&mut self) {
        if let Some((suffix, replacement)) = STEP_3.into_iter().find(|(suffix, _)| self.ends(suffix))
            && measure(self.before(suffix)) > 0
        {
            self.replace(suffix, replacement);
        }
    }

    fn step_4(&mut self) {
        let Some(suffix) = STEP_4.into_iter().find(|suffix| self.ends(suffix)) else { return };
        let stem = self.before(suffix);
        if measure(stem) > 1 && (suffix != "ion" || stem.ends_with(&['s']) || stem.ends_with(&['t'])) {
            self.replace(suffix, "");
        }
    }

    fn step_5a(&mut self) {
        let stem = self.before("e");
        if self.ends("e") && (measure(stem) > 1 || (measure(stem) == 1 && !ends_cvc(stem))) {
            self.replace("e", "");
        }
    }

    fn step_5b(&mut self) {
        if self.ends("ll") && measure(self.before("l")) > 1 {
            self.replace("ll", "l");
        }
    }

    fn ends(&self, suffix: &str) -> bool {
        // Suffixes are ASCII: one byte a character. Most fail at the last.
        let mut chars = self.chars.iter().rev();
        suffix.bytes().rev().all(|byte| chars.next() == Some(&char::from(byte)))
    }

    /// The characters before the last `suffix.len()`.
    fn before(&self, suffix: &str) -> &[char] {
        &self.chars[..self.chars.len().saturating_sub(suffix.len())]
    }

    fn replace(&mut self, suffix: &str, replacement: &str) {
        self.chars.truncate(self.chars.len() - suffix.len());
        self.chars.extend(replacement.chars());
    }
}

/// Returns whether each character is a consonant, from left to right; `y` is one where none stands before it.
fn consonants(chars: &[char]) -> impl Iterator<Item = bool> {
    let mut previous = false;
    chars.iter().map(move |c| {
        previous = match c {
            'a' | 'e' | 'i' | 'o' | 'u' => false,
            'y' => !previous,
            _ => true,
        };
        previous
    })
}

fn is_consonant(chars: &[char], at: usize) -> bool {
    // Every other `y` of a run is a consonant, so what stands before the run decides.
    let n_ys = chars[..=at].iter().rev().take_while(|c| **c == 'y').count();
    let Some(before) = (at + 1).checked_sub(n_ys + 1) else { return n_ys % 2 == 1 };
    !matches!(chars[before], 'a' | 'e' | 'i' | 'o' | 'u') ^ (n_ys % 2 == 1)
}

/// Porter's m: how often a consonant follows a vowel.
fn measure(chars: &[char]) -> usize {
    let mut after_vowel = false;
    let mut n = 0;
    for consonant in consonants(chars) {
        n += usize::from(consonant && after_vowel);
        after_vowel = !consonant;
    }
    n
}

fn has_vowel(chars: &[char]) -> bool {
    consonants(chars).any(|consonant| !consonant)
}

fn ends_in_double_consonant(chars: &[char]) -> bool {
    matches!(chars, [.., a, b] if a == b) && is_consonant(chars, chars.len() - 1)
}

/// Porter's condition *o, and NLTK's addition: a vowel and a consonant that are the whole word.
fn ends_cvc(chars: &[char]) -> bool {
    match chars.len() {
        0 | 1 => false,
        2 => !is_consonant(chars, 0) && is_consonant(chars, 1),
        n => {
            is_consonant(chars, n - 3)
                && !is_consonant(chars, n - 2)
                && is_consonant(chars, n - 1)
                && !matches!(chars[n - 1], 'w' | 'x' | 'y')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pairs: &[(&str, &str)]) {
        for (word, expected) in pairs {
            assert_eq!(stem(word), *expected, "{word}");
        }
    }

    #[test]
    fn the_paper_s_examples() {
        check(&[("caresses", "caress"), ("ponies", "poni"), ("cats", "cat"), ("feed", "feed"), ("agreed", "agre")]);
        check(&[("plastered", "plaster"), ("bled", "bled"), ("motoring", "motor"), ("sing", "sing")]);
        check(&[("hopping", "hop"), ("falling", "fall"), ("filing", "file"), ("failing", "fail")]);
        check(&[("relational", "relat"), ("conditional", "condit"), ("vietnamization", "vietnam")]);
        check(&[
            ("triplicate", "triplic"),
            ("hopefulness", "hope"),
            ("adjustable", "adjust"),
            ("controlling", "control"),
        ]);
    }

    #[test]
    fn nltk_s_extensions() {
        check(&[
            ("flies", "fli"),
            ("dies", "die"),
            ("died", "die"),
            ("spied", "spi"),
            ("by", "by"),
            ("enjoy", "enjoy"),
        ]);
        check(&[("dying", "die"), ("Dying", "dy"), ("skies", "sky"), ("geology", "geolog"), ("owned", "own")]);
        check(&[("bo*ding", "bod"), ("radically", "radic")]);
    }

    #[test]
    fn any_text_has_a_stem() {
        check(&[("", ""), ("...", "..."), ("孔乙己们", "孔乙己们"), ("naïvely", "naïv"), ("été", "été")]);
        let ys = "y".repeat(5001);
        assert_eq!(stem(&ys).len(), 5001);
    }
}
