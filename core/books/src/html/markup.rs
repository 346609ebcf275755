//! Markup cut into pieces by html5ever's tokenizer.
//!
//! Only the tokenizer: the tree that HTML prescribes takes XHTML's `<script/>` and `<title/>` for tags that are never closed.

use super::attributes::limited;
use super::declared::resolved;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::{Attribute, TokenizerResult};
use std::cell::RefCell;

/// A piece of markup.
pub(super) enum Piece<'m> {
    /// A tag that opens an element, its name in lower case and without a prefix; `empty` where it closes it as well.
    Open { name: &'m str, attributes: &'m [Attribute], empty: bool },
    /// A tag that closes an element.
    Close { name: &'m str },
    /// Text, its entities decoded. One text can come in several pieces.
    Text(&'m str),
}

/// Hands the pieces of `html` to `each`, in order. Comments, declarations and processing instructions are none; the content of
/// scripts and styles is one, as the elements' text. Line ends are line feeds.
pub(super) fn read(html: &str, each: impl FnMut(Piece<'_>)) {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(&*limited(&resolved(html), is_raw)));
    let tokenizer = Tokenizer::new(Pieces(RefCell::new((each, Prefixes::default()))), TokenizerOpts::default());
    // It stops early only where a sink asks for it.
    while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
    tokenizer.end();
}

/// Returns whether the content of an element is text in which no tag begins.
fn is_raw(name: &str) -> bool {
    matches!(name, "script" | "style" | "iframe" | "noembed" | "noframes" | "xmp")
}

/// Prefixes that stand for XHTML, drawings and formulas: a tokenizer knows no namespaces.
#[derive(Default)]
struct Prefixes(Vec<String>);

impl Prefixes {
    /// Most prefixes to keep.
    const MAX: usize = 16;
    const NAMESPACES: [&str; 3] =
        ["http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"];

    /// Keeps the prefixes that a tag declares, and returns its name without one of those that are known.
    fn local<'t>(&mut self, tag: &'t Tag) -> &'t str {
        for attribute in &tag.attrs {
            if let Some(prefix) = attribute.name.local.strip_prefix("xmlns:")
                && Self::NAMESPACES.contains(&attribute.value.trim())
                && self.0.len() < Self::MAX
                && !self.0.iter().any(|known| known == prefix)
            {
                self.0.push(prefix.to_owned());
            }
        }
        match tag.name.split_once(':') {
            Some((prefix, local)) if self.0.iter().any(|known| known == prefix) => local,
            _ => &tag.name,
        }
    }
}

struct Pieces<F>(RefCell<(F, Prefixes)>);

impl<F: FnMut(Piece<'_>)> TokenSink for Pieces<F> {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let (each, prefixes) = &mut *self.0.borrow_mut();
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => {
                each(Piece::Open { name: prefixes.local(&tag), attributes: &tag.attrs, empty: tag.self_closing });
                if is_raw(&tag.name) && !tag.self_closing {
                    return TokenSinkResult::RawData(RawKind::Rawtext);
                }
            }
            Token::TagToken(tag) => each(Piece::Close { name: prefixes.local(&tag) }),
            Token::CharacterTokens(text) => each(Piece::Text(&text)),
            _ => {}
        }
        TokenSinkResult::Continue
    }

    /// Says that the node is in another namespace, so that CDATA sections are text, as in XHTML.
    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        true
    }
}
