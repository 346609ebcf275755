//! The vocabularies that are inside.

#[cfg(feature = "vocabularies")]
pub(super) const INSIDE: &str = "the vocabularies inside are tested to be the published ones";

/// The byte-pair encodings of OpenAI that closeread knows the pre-tokenisation of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// `cl100k_base`, of GPT-4 and of RAPTOR's node lengths; the default for caps, budgets and reports.
    Cl100k,
    /// `o200k_base`, of GPT-4o.
    O200k,
}

impl Encoding {
    /// Returns the encoding's name in tiktoken.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cl100k => "cl100k_base",
            Self::O200k => "o200k_base",
        }
    }

    /// Returns the number of tokens, special ones excluded.
    pub(super) fn n_tokens(self) -> u32 {
        match self {
            Self::Cl100k => 100_256,
            Self::O200k => 199_998,
        }
    }

    /// Returns the hash of the vocabulary as tiktoken publishes it: a line a token, in base64, and behind it its rank.
    pub(super) fn published_sha256(self) -> &'static str {
        match self {
            Self::Cl100k => "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
            Self::O200k => "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        }
    }

    /// Returns the hash of the vocabulary's file, decompressed.
    pub(super) fn sha256(self) -> &'static str {
        match self {
            Self::Cl100k => "18288f996f452d44e0e65996176591a4b712a3eb1b42afd6f0511e735c099480",
            Self::O200k => "440741350e7cfa1c0f4869ce742d1b043550adbda5187adcac9e787edac6fba9",
        }
    }

    /// tiktoken's pre-tokenisation, with its look-ahead `\s+(?!\S)` spelt as a pattern whose last character is given
    /// back, which needs no look-ahead: the one at [`Encoding::GIVES_BACK`].
    pub(super) fn patterns(self) -> [&'static str; 3] {
        let words = match self {
            Self::Cl100k => concat!(
                r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
                r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+$"
            ),
            Self::O200k => concat!(
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+$"
            ),
        };
        [words, r"\s+\s", r"\s+"]
    }

    pub(super) const GIVES_BACK: usize = 1;

    /// Returns the vocabulary's file, decompressed.
    #[cfg(feature = "vocabularies")]
    pub(super) fn vocabulary(self) -> Vec<u8> {
        use std::io::Read as _;
        let packed: &[u8] = match self {
            Self::Cl100k => include_bytes!("../../assets/tokens/cl100k_base.bin.gz"),
            Self::O200k => include_bytes!("../../assets/tokens/o200k_base.bin.gz"),
        };
        let mut file = Vec::new();
        flate2::read::GzDecoder::new(packed).read_to_end(&mut file).expect(INSIDE);
        file
    }
}
