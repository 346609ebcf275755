//! The two settings of NovelQA.

/// Which of NovelQA's two settings (section 4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// Options are given: the answer is a letter.
    MultipleChoice,
    /// The answer is free, and judged.
    Generative,
}

impl Setting {
    /// Both, in the order in which an archive is written.
    pub const ALL: [Self; 2] = [Self::MultipleChoice, Self::Generative];

    /// Where its answers lie in the archive.
    pub const fn path(self) -> &'static str {
        match self {
            Self::MultipleChoice => "res_mc/res_mc.json",
            Self::Generative => "res_gen/res_gen.json",
        }
    }
}
