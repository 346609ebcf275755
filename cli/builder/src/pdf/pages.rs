//! The pages of a PDF: their text, and how many have none.

use pdf_extract::{Document, MediaBox, OutputDev, OutputError, PlainTextOutput, Transform, output_doc};

/// The text of a PDF and the number of its pages, of which some have no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PdfText {
    pub(super) text: String,
    pub(super) n_pages: usize,
    /// Number of pages without text: empty ones, and pictures of pages.
    pub(super) n_empty: usize,
}

/// Reads a PDF, page after page; one that is encrypted, by the empty password.
pub(super) fn read(bytes: &[u8]) -> Result<PdfText, OutputError> {
    let mut document = Document::load_mem(bytes)?;
    if document.is_encrypted() {
        document.decrypt("")?;
    }
    let mut text = String::new();
    let mut pages = Pages { text: PlainTextOutput::new(&mut text), is_empty: true, n_pages: 0, n_empty: 0 };
    output_doc(&document, &mut pages)?;
    let Pages { n_pages, n_empty, .. } = pages;
    Ok(PdfText { text, n_pages, n_empty })
}

/// Passes pages on as text, and counts them.
struct Pages<'t> {
    text: PlainTextOutput<&'t mut String>,
    is_empty: bool,
    n_pages: usize,
    n_empty: usize,
}

impl OutputDev for Pages<'_> {
    fn begin_page(
        &mut self,
        number: u32,
        media_box: &MediaBox,
        art_box: Option<(f64, f64, f64, f64)>,
    ) -> Result<(), OutputError> {
        self.is_empty = true;
        self.text.begin_page(number, media_box, art_box)
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        self.n_pages += 1;
        self.n_empty += usize::from(self.is_empty);
        self.text.end_page()
    }

    fn output_character(
        &mut self,
        place: &Transform,
        width: f64,
        spacing: f64,
        size: f64,
        character: &str,
    ) -> Result<(), OutputError> {
        self.is_empty &= character.trim().is_empty();
        self.text.output_character(place, width, spacing, size, character)
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        self.text.begin_word()
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        self.text.end_word()
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        self.text.end_line()
    }
}
