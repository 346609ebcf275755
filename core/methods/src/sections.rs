//! Several documents as one text, read section by section.
//!
//! The text of one document is in memory at a time: a corpus of millions of tokens is never put together.

use closeread_books::tokens::Tokenizer;
use closeread_text::FlowSpan;
use std::num::NonZeroUsize;
use std::ops::Range;

/// A stretch of the text, to be read at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Text of the section, document headings included.
    pub text: String,
    /// Places of the section in the documents: number of the document, bytes of its text. Without the headings;
    /// ascending.
    pub places: Vec<(usize, FlowSpan)>,
    /// Places of the section in tokens of the whole text; more than one range where the text's centre is left out in
    /// the middle of it.
    pub tokens: Vec<Range<usize>>,
}

impl Section {
    /// Returns the section's length in tokens.
    pub fn n_tokens(&self) -> usize {
        self.tokens.iter().map(Range::len).sum()
    }
}

/// The sections of some documents, in order and without overlap.
///
/// One document is read as it is, several under headings `# Document k:` (CorpusQA, appendix C); white space at the ends of
/// each document is left out. A section has the same number of tokens as any other but the last, and may reach over the end
/// of a document. Documents are tokenised one by one, which for the encodings of OpenAI gives the tokens of the whole.
pub struct Sections<'t, F> {
    tokenizer: &'t Tokenizer,
    n_documents: usize,
    text_of: F,
    section_tokens: NonZeroUsize,
    /// Tokens that are left out.
    left_out: Range<usize>,
    document: Option<Document>,
    next_document: usize,
    /// Tokens of all documents before the open one.
    n_before: usize,
}

/// A document that is being read.
struct Document {
    number: usize,
    /// Heading and text of the document.
    block: String,
    /// Length of the heading in bytes.
    heading: usize,
    /// Bytes by which the text was cut at its front.
    trimmed: usize,
    /// Byte of the block at which each token ends.
    ends: Vec<usize>,
    /// Token that is read next.
    next: usize,
}

impl<'t, E, F: AsyncFn(usize) -> Result<String, E>> Sections<'t, F> {
    /// The sections of `n_documents` documents, of which `text_of` gives the text, by number from 0.
    ///
    /// With `max_context`, a longer text loses its centre: the first half of so many tokens is kept, rounded down, and the
    /// last half, rounded up (MemAgent). That takes a pass over all documents beforehand, to count them.
    ///
    /// # Errors
    /// What `text_of` fails with.
    pub async fn new(
        tokenizer: &'t Tokenizer,
        n_documents: usize,
        text_of: F,
        section_tokens: NonZeroUsize,
        max_context: Option<NonZeroUsize>,
    ) -> Result<Self, E> {
        let (document, left_out) = (None, usize::MAX..usize::MAX);
        let mut sections =
            Self { tokenizer, n_documents, text_of, section_tokens, left_out, document, next_document: 0, n_before: 0 };
        if let Some(max) = max_context.map(NonZeroUsize::get) {
            let mut n = 0;
            for number in 0..n_documents {
                n += sections.open(number).await?.ends.len();
            }
            if n > max {
                sections.left_out = max / 2..n - max.div_ceil(2);
            }
        }
        Ok(sections)
    }

    async fn open(&self, number: usize) -> Result<Document, E> {
        let text = (self.text_of)(number).await?;
        let trimmed = text.len() - text.trim_start().len();
        let gap = if number > 0 { "\n\n" } else { "" };
        let heading = if self.n_documents > 1 { format!("{gap}# Document {}:\n", number + 1) } else { String::new() };
        let (block, heading) = (format!("{heading}{}", text.trim()), heading.len());
        let mut ends = self.tokenizer.token_ends(&block);
        // What a tokenizer drops at the end belongs to the last token.
        if let Some(last) = ends.last_mut() {
            *last = block.len();
        }
        Ok(Document { number, block, heading, trimmed, ends, next: 0 })
    }

    /// The next section; `None` behind the last.
    ///
    /// # Errors
    /// What `text_of` fails with.
    pub async fn next(&mut self) -> Result<Option<Section>, E> {
        let mut section = Section { text: String::new(), places: Vec::new(), tokens: Vec::new() };
        loop {
            let wanted = self.section_tokens.get() - section.n_tokens();
            if wanted == 0 {
                break;
            }
            let Some(mut document) = self.document.take() else {
                if self.next_document == self.n_documents {
                    break;
                }
                self.document = Some(self.open(self.next_document).await?);
                self.next_document += 1;
                continue;
            };
            let (n, at) = (document.ends.len(), self.n_before + document.next);
            if document.next == n {
                self.n_before += n;
                continue;
            }
            if self.left_out.contains(&at) {
                document.next = (self.left_out.end - self.n_before).min(n);
            } else {
                let until_gap = if at < self.left_out.start { self.left_out.start - at } else { usize::MAX };
                let end = document.next + wanted.min(n - document.next).min(until_gap);
                section.add(&document, document.next..end, at);
                document.next = end;
            }
            self.document = Some(document);
        }
        Ok((!section.tokens.is_empty()).then_some(section))
    }
}

impl Section {
    /// Adds tokens of a document, of which the first is the token `at` of the whole text.
    fn add(&mut self, document: &Document, tokens: Range<usize>, at: usize) {
        let start = tokens.start.checked_sub(1).map_or(0, |before| document.ends[before]);
        let end = document.ends[tokens.end - 1];
        self.text.push_str(&document.block[start..end]);
        let in_document = |byte: usize| byte.max(document.heading) - document.heading + document.trimmed;
        let place = FlowSpan::new(in_document(start), in_document(end));
        if !place.is_empty() {
            self.places.push((document.number, place));
        }
        let tokens = at..at + tokens.len();
        match self.tokens.last_mut() {
            Some(last) if last.end == tokens.start => last.end = tokens.end,
            _ => self.tokens.push(tokens),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    fn sections(texts: &[&str], section_tokens: usize, max_context: Option<usize>) -> Vec<Section> {
        let tokenizer = Tokenizer::cl100k();
        let max_context = max_context.and_then(NonZeroUsize::new);
        let text_of = async |number: usize| Ok::<_, Infallible>(texts[number].to_owned());
        let section_tokens = NonZeroUsize::new(section_tokens).unwrap();
        pollster::block_on(async {
            let mut sections = Sections::new(&tokenizer, texts.len(), text_of, section_tokens, max_context).await?;
            let mut all = Vec::new();
            while let Some(section) = sections.next().await? {
                all.push(section);
            }
            Ok::<_, Infallible>(all)
        })
        .unwrap()
    }

    #[test]
    fn several_documents_stand_under_headings_and_sections_reach_over_their_ends() {
        let sections = sections(&[" One two three.\n", "", "Four five."], 8, None);
        let texts: Vec<&str> = sections.iter().map(|section| section.text.as_str()).collect();
        let whole = "# Document 1:\nOne two three.\n\n# Document 2:\n\n\n# Document 3:\nFour five.";
        assert_eq!(texts.concat(), whole);
        assert_eq!(sections[0].places, [(0, FlowSpan::new(1, 14))], "behind the heading of five tokens");
        assert!(sections.iter().flat_map(|section| &section.places).all(|(document, _)| *document != 1));
        assert_eq!(sections.last().unwrap().places.last(), Some(&(2, FlowSpan::new(0, 10))));
    }

    #[test]
    fn a_text_that_is_too_long_loses_its_centre() {
        let text = "a b c d e f g h i j k l m n";
        let cut = sections(&[text], 5, Some(7));
        let texts: Vec<&str> = cut.iter().map(|section| section.text.as_str()).collect();
        assert_eq!(texts, ["a b c k l", " m n"]);
        assert_eq!(cut[0].tokens, [0..3, 10..12]);
        assert_eq!(sections(&[text], 5, Some(14)).len(), 3, "nothing is left out of what fits");
        assert_eq!(sections(&[" \n"], 5, Some(7)), []);
    }

    proptest! {
        #[test]
        fn sections_are_the_text_in_pieces_of_equal_length(
            texts in prop::collection::vec("([a-zé水\u{10a7f} .\n]{0,9} ){0,12}", 1..5),
            section_tokens in 1usize..40,
            max_context in prop::option::of(1usize..60),
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let whole = sections(&texts, usize::MAX, None);
            let all: Vec<Section> = sections(&texts, section_tokens, max_context);
            let n: usize = whole.iter().map(Section::n_tokens).sum();
            prop_assert_eq!(all.iter().map(Section::n_tokens).sum::<usize>(), n.min(max_context.unwrap_or(n)));
            if let Some((last, full)) = all.split_last() {
                prop_assert!(full.iter().all(|section| section.n_tokens() == section_tokens));
                prop_assert!((1..=section_tokens).contains(&last.n_tokens()));
            }
            if max_context.is_none_or(|max| n <= max) {
                let text: String = all.iter().map(|section| section.text.as_str()).collect();
                prop_assert_eq!(text, whole.iter().map(|section| section.text.as_str()).collect::<String>());
            }
            for (document, span) in all.iter().flat_map(|section| &section.places) {
                prop_assert!(texts[*document].get(span.range()).is_some());
            }
        }
    }
}
