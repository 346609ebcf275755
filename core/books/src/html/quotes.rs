//! The quotation marks that a browser sets around `<q>`.

/// The elements `<q>` that are open.
#[derive(Default)]
pub(super) struct Quotes(Vec<Marks>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Marks {
    /// Nothing of the quotation was seen yet.
    Due,
    /// They are set.
    Set,
    /// The quotation begins with a mark of its own, or stands behind one.
    Own,
}

impl Quotes {
    /// The marks of a quotation that stands in `n` others, as in English and Chinese: double ones, and single ones within.
    fn pair(n: usize) -> (char, char) {
        if n.is_multiple_of(2) { ('“', '”') } else { ('‘', '’') }
    }

    pub(super) fn open(&mut self) {
        self.0.push(Marks::Due);
    }

    /// Forgets what was not closed.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Writes what is due before the visible character `c`.
    pub(super) fn before(&mut self, c: char, text: &mut String) {
        let first = self.0.iter().rposition(|marks| *marks != Marks::Due).map_or(0, |idx| idx + 1);
        let is_mark = |c: char| matches!(c, '“' | '‘' | '"' | '«' | '„' | '「' | '『');
        // Books that hide a browser's marks have their own, within the element or around it.
        let has_own = is_mark(c) || c == '\'' || text.ends_with(is_mark);
        for (n, marks) in self.0.iter_mut().enumerate().skip(first) {
            *marks = if has_own { Marks::Own } else { Marks::Set };
            if !has_own {
                text.push(Self::pair(n).0);
            }
        }
    }

    /// Ends the innermost quotation; returns the mark behind it.
    pub(super) fn close(&mut self) -> Option<char> {
        let marks = self.0.pop()?;
        (marks == Marks::Set).then(|| Self::pair(self.0.len()).1)
    }
}
