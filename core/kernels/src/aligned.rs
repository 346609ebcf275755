//! Memory that vectors are read from in one go.

/// Bytes that a cache line has, and the widest vector: what starts there is read in one go.
pub const LINE: usize = 64;

/// Numbers whose first lies on a cache line.
#[derive(Debug, Default)]
pub struct Aligned<T> {
    values: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// `len` zeros.
    pub fn new(len: usize) -> Self {
        let spare = LINE / size_of::<T>();
        let values = vec![T::default(); len + spare];
        // The vector never grows, so that its numbers stay where they are.
        let start = values.as_ptr().align_offset(LINE).min(spare);
        Self { values, start, len }
    }

    /// Makes room for at least `len` numbers; the old ones are lost where there were fewer.
    pub fn grow(&mut self, len: usize) {
        if self.len < len {
            *self = Self::new(len);
        }
    }

    /// Returns all numbers.
    pub fn get(&self) -> &[T] {
        &self.values[self.start..][..self.len]
    }

    /// Returns all numbers, to be written.
    pub fn get_mut(&mut self) -> &mut [T] {
        &mut self.values[self.start..][..self.len]
    }
}
