//! Half-open byte ranges, one type per coordinate system.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Bytes `start..end` of a whole file as decoded to UTF-8, frame and line ends included.
///
/// This is the only kind of offset that is printed or recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// Start of the span: first byte.
    pub start: usize,
    /// End of the span: one past the last byte.
    pub end: usize,
}

/// Bytes `start..end` of a `Flow` of a book: the text as it is read, with wraps undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowSpan {
    /// Start of the span: first byte.
    pub start: usize,
    /// End of the span: one past the last byte.
    pub end: usize,
}

macro_rules! range_like {
    ($name:ident) => {
        impl $name {
            /// The range from `start` to `end`, which must not lie before `start`.
            pub fn new(start: usize, end: usize) -> Self {
                debug_assert!(start <= end, "{start}..{end} is not a range");
                Self { start, end }
            }

            /// The range from `start` to `end`, as a file of others states it; `None` if `end` lies before `start`.
            pub fn stated(start: usize, end: usize) -> Option<Self> {
                (start <= end).then_some(Self { start, end })
            }

            /// Returns the length in bytes.
            pub fn len(self) -> usize {
                self.end - self.start
            }

            /// True if no byte lies inside.
            pub fn is_empty(self) -> bool {
                self.start == self.end
            }

            /// Returns the range, to index a string with.
            pub fn range(self) -> Range<usize> {
                self.start..self.end
            }

            /// The smallest range that holds both.
            pub fn cover(self, other: Self) -> Self {
                Self { start: self.start.min(other.start), end: self.end.max(other.end) }
            }
        }

        impl From<Range<usize>> for $name {
            fn from(range: Range<usize>) -> Self {
                Self::new(range.start, range.end)
            }
        }
    };
}

range_like!(Span);
range_like!(FlowSpan);
