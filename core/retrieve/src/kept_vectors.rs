//! Vectors as bytes, laid out for a search that reads all of them.

use super::kept::{KeptBytes, Reader};
use super::ranking::{Ranking, best};
use super::{IndexError, VectorBlocks};
use closeread_embed::Vectors;

const MAGIC: &[u8; 8] = b"crvecix1";
/// Vectors that are scored side by side, each in its own sum.
const LANES: usize = 8;
/// The lengths of a block's vectors, before their numbers.
const N_LENGTHS: usize = LANES * size_of::<f64>();
/// Bytes of one number of each vector of a block.
const N_COLUMN: usize = LANES * size_of::<f32>();

/// Vectors, one a passage, that are read where they lie.
///
/// Eight vectors are a block: their lengths in double precision, then the first number of each, the second of each, and so on;
/// what is missing in the last block is 0. All numbers have their lowest byte first.
#[derive(Debug, Clone)]
pub struct KeptVectors {
    dimension: usize,
    n_rows: usize,
    n_cut: usize,
    blocks: KeptBytes,
}

impl KeptVectors {
    /// Reads what [`KeptVectors::write`] wrote.
    ///
    /// # Errors
    /// [`IndexError::Kept`] if it is anything else.
    pub fn of_bytes(bytes: KeptBytes) -> Result<Self, IndexError> {
        let mut from = Reader::new(bytes, MAGIC)?;
        let (dimension, n_rows, n_cut) = (from.number()?, from.number()?, from.number()?);
        let size = dimension.checked_mul(N_COLUMN).and_then(|size| size.checked_add(N_LENGTHS));
        let size =
            size.filter(|_| dimension > 0).ok_or(IndexError::Kept("its vectors have no numbers, or too many"))?;
        let blocks = from.part(size, n_rows.div_ceil(LANES))?;
        from.finish()?;
        Ok(Self { dimension, n_rows, n_cut, blocks })
    }

    /// Hands over the bytes of vectors, some at a time; `n_cut` of their texts were cut.
    ///
    /// # Errors
    /// What [`VectorBlocks::read`] says.
    pub fn write(
        dimension: usize,
        vectors: &dyn VectorBlocks,
        n_cut: usize,
        to: &mut dyn FnMut(&[u8]),
    ) -> Result<(), String> {
        to(MAGIC);
        [dimension, vectors.n_rows(), n_cut].iter().for_each(|&number| to(&(number as u64).to_le_bytes()));
        let (mut waiting, mut n_rows, mut block) = (Vec::with_capacity(LANES * dimension), 0, Vec::new());
        let mut write = |rows: &[f32]| {
            block.clear();
            let rows: Vec<&[f32]> = rows.chunks_exact(dimension).collect();
            for lane in 0..LANES {
                block.extend(rows.get(lane).map_or(0.0, |row| length(row)).to_le_bytes());
            }
            for column in 0..dimension {
                for lane in 0..LANES {
                    block.extend(rows.get(lane).map_or(0.0, |row| row[column]).to_le_bytes());
                }
            }
            to(&block);
        };
        vectors.read(&mut |vectors| {
            for row in vectors.rows() {
                n_rows += 1;
                waiting.extend_from_slice(row);
                if waiting.len() == LANES * dimension {
                    write(&waiting);
                    waiting.clear();
                }
            }
        })?;
        if !waiting.is_empty() {
            write(&waiting);
        }
        match vectors.n_rows() {
            n if n == n_rows => Ok(()),
            n => Err(format!("{n_rows} vectors are there instead of {n}")),
        }
    }

    /// Returns the number of vectors.
    pub fn len(&self) -> usize {
        self.n_rows
    }

    /// True if there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.n_rows == 0
    }

    /// Returns the number of values in each vector.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns how many of the vectors' texts were cut because the model takes no more.
    pub fn n_cut(&self) -> usize {
        self.n_cut
    }

    /// The lengths of each block's vectors, and their numbers.
    fn blocks(&self) -> impl Iterator<Item = (&[[u8; 8]], &[[u8; N_COLUMN]])> {
        self.blocks.bytes().chunks_exact(N_LENGTHS + self.dimension * N_COLUMN).map(|block| {
            let (lengths, columns) = block.split_at(N_LENGTHS);
            (lengths.as_chunks().0, columns.as_chunks().0)
        })
    }

    /// Returns the first `n` of the ranking of [`super::cosine_ranking`] over these vectors, bit for bit.
    ///
    /// # Errors
    /// [`IndexError::Dimension`] if the query has another dimension.
    pub fn best(&self, query: &[f32], n: usize) -> Result<Ranking, IndexError> {
        match self.is_empty() || self.dimension == query.len() {
            true => Ok(best(self.cosines(query), n)),
            false => Err(IndexError::Dimension { query: query.len(), passages: self.dimension }),
        }
    }

    /// Returns the cosine of each vector with a query of their dimension.
    pub(super) fn cosines(&self, query: &[f32]) -> Vec<f64> {
        let query_length = length(query);
        let query: Vec<f64> = query.iter().map(|&x| f64::from(x)).collect();
        let mut cosines = Vec::with_capacity(self.n_rows.next_multiple_of(LANES));
        for (lengths, columns) in self.blocks() {
            let mut dots = [0.0; LANES];
            for (x, column) in query.iter().zip(columns) {
                for (dot, y) in dots.iter_mut().zip(column.as_chunks::<4>().0) {
                    *dot += x * f64::from(f32::from_le_bytes(*y));
                }
            }
            cosines.extend(dots.iter().zip(lengths).map(|(dot, length)| {
                let lengths = query_length * f64::from_le_bytes(*length);
                if lengths == 0.0 { 0.0 } else { dot / lengths }
            }));
        }
        cosines.truncate(self.n_rows);
        cosines
    }

    /// Returns the vectors, in order.
    pub(super) fn rows(&self) -> Vec<Vec<f32>> {
        let row = |columns: &[[u8; N_COLUMN]], lane: usize| {
            columns.iter().map(|column| f32::from_le_bytes(column.as_chunks().0[lane])).collect()
        };
        let rows = self.blocks().flat_map(|(_, columns)| (0..LANES).map(move |lane| row(columns, lane)));
        rows.take(self.n_rows).collect()
    }
}

/// Vectors in memory as blocks: one block.
impl VectorBlocks for Vectors {
    fn n_rows(&self) -> usize {
        self.len()
    }

    fn read(&self, take: &mut dyn FnMut(&Vectors)) -> Result<(), String> {
        take(self);
        Ok(())
    }
}

fn length(row: &[f32]) -> f64 {
    let mut squares = 0.0;
    for &x in row {
        squares += f64::from(x) * f64::from(x);
    }
    libm::sqrt(squares)
}
