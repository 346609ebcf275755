//! The two settings of NovelQA.

/// One of NovelQA's two settings (section 4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// Options are given: the answer is a letter.
    MultipleChoice,
    /// The answer is free, and judged.
    Generative,
}

impl Setting {
    /// Both settings, in the order in which an archive is written.
    pub const ALL: [Self; 2] = [Self::MultipleChoice, Self::Generative];

    /// Returns the path of the setting's answers in the archive.
    pub const fn path(self) -> &'static str {
        match self {
            Self::MultipleChoice => "res_mc/res_mc.json",
            Self::Generative => "res_gen/res_gen.json",
        }
    }
}
