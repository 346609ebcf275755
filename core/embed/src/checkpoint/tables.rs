//! Tables in which token ids and positions are looked up.

use super::values::Values;
use crate::EmbedError;
use crate::error::unknown_token;

/// The vectors of tokens and positions, which add up to a text's first states.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tables {
    /// Table of words, one row a token of the vocabulary.
    pub words: Table,
    /// Table of positions, one row a position of a text, the vector of token type 0 added; from the text's first token,
    /// whatever number the model gives its position.
    pub positions: Table,
}

/// Rows that are looked up.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Number of rows.
    pub n_rows: usize,
    /// Number of values in a row.
    pub n_columns: usize,
    /// Row after row; 8-bit with a scale a row.
    pub values: Values,
}

impl Tables {
    /// Checks that all texts of a batch can be looked up.
    ///
    /// # Errors
    /// [`EmbedError::Forward`]: a text without a token, of more tokens than there are positions, or with an unknown id.
    pub fn check(&self, batch: &[&[u32]]) -> Result<(), EmbedError> {
        batch.iter().try_for_each(|ids| self.check_text(ids)).map_err(|problem| {
            let n_tokens = batch.iter().map(|ids| ids.len()).max().unwrap_or(0);
            EmbedError::Forward { n_texts: batch.len(), n_tokens, problem }
        })
    }

    fn check_text(&self, ids: &[u32]) -> Result<(), String> {
        if ids.is_empty() {
            return Err("a text without a token, not even special ones, has no vector".to_owned());
        }
        if ids.len() > self.positions.n_rows {
            return Err(format!("{} tokens, the model has positions for {}", ids.len(), self.positions.n_rows));
        }
        match ids.iter().find(|&&id| id as usize >= self.words.n_rows) {
            Some(id) => Err(unknown_token(*id, self.words.n_rows)),
            None => Ok(()),
        }
    }

    /// Writes the sum of word and position, before it is normalised, to `state`.
    ///
    /// # Panics
    /// If there is no such token or position ([`Tables::check`]), or `state` has another length than a row.
    pub fn read(&self, id: u32, position: usize, state: &mut [f32]) {
        self.words.read(id as usize, state);
        self.positions.add(position, state);
    }
}

impl Table {
    /// Writes one row to `to`.
    fn read(&self, row: usize, to: &mut [f32]) {
        to.fill(0.0);
        self.add(row, to);
    }

    /// Adds one row to `to`.
    ///
    /// # Panics
    /// If there is no such row, or `to` has another length.
    pub fn add(&self, row: usize, to: &mut [f32]) {
        let range = row * self.n_columns..(row + 1) * self.n_columns;
        assert_eq!(to.len(), self.n_columns, "a row of the table");
        match &self.values {
            Values::F32(values) => to.iter_mut().zip(&values[range]).for_each(|(to, value)| *to += value),
            Values::Int8 { values, scales } => {
                to.iter_mut().zip(&values[range]).for_each(|(to, &value)| *to += f32::from(value) * scales[row]);
            }
        }
    }
}
