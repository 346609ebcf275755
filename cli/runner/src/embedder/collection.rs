//! The vectors of many passages: in memory where they are few, else in the files that remember them.

use super::Embedder;
use super::cache::read_again;
use closeread_embed::{Embedded, Role, Vectors};
use closeread_retrieve::VectorBlocks;
use std::path::PathBuf;
use std::sync::Arc;

/// Vectors that are being made.
pub struct Collection<'e> {
    embedder: &'e Embedder,
    in_memory: bool,
    blocks: Blocks,
    n_cut: usize,
}

/// Vectors that have been made.
pub enum Collected {
    /// All vectors, in memory.
    Memory(Vectors),
    /// Vectors on disk, to be read whenever they are needed.
    Disk(Arc<dyn VectorBlocks>),
}

impl Collected {
    /// Returns all vectors, block by block.
    pub fn blocks(&self) -> &dyn VectorBlocks {
        match self {
            Self::Memory(vectors) => vectors,
            Self::Disk(blocks) => blocks.as_ref(),
        }
    }
}

/// Vectors, some of them in files.
#[derive(Debug)]
struct Blocks {
    dimension: usize,
    n_rows: usize,
    blocks: Vec<Block>,
}

#[derive(Debug)]
enum Block {
    Memory(Vectors),
    File { path: PathBuf, n_rows: usize },
}

impl<'e> Collection<'e> {
    /// Collects the vectors of passages, text by text, in memory or where they are remembered on disk.
    pub fn new(embedder: &'e Embedder, in_memory: bool) -> Self {
        let dimension = embedder.dimension();
        Self { embedder, in_memory, blocks: Blocks { dimension, n_rows: 0, blocks: Vec::new() }, n_cut: 0 }
    }

    /// Embeds the next passages, or remembers them. `progress` hears how many of them are done.
    ///
    /// Where nothing can be remembered on disk, they are held after all.
    pub fn embed(&mut self, texts: &[&str], progress: impl FnMut(usize)) -> anyhow::Result<()> {
        if texts.is_empty() {
            return Ok(());
        }
        let Embedded { vectors, n_cut } = self.embedder.embed(Role::Passage, texts, progress)?;
        self.n_cut += n_cut;
        self.blocks.n_rows += vectors.len();
        let key = || self.embedder.key(Role::Passage, texts);
        let file = if self.in_memory { None } else { self.embedder.cache.file(&key()) };
        self.blocks.blocks.push(match file {
            Some(path) => Block::File { path, n_rows: vectors.len() },
            None => Block::Memory(vectors),
        });
        Ok(())
    }

    /// Returns how many texts had to be cut.
    pub fn n_cut(&self) -> usize {
        self.n_cut
    }

    /// The vectors, in memory or on disk.
    pub fn finish(self) -> Collected {
        let Blocks { dimension, n_rows, blocks } = self.blocks;
        if !self.in_memory {
            return Collected::Disk(Arc::new(Blocks { dimension, n_rows, blocks }));
        }
        let mut values = Vec::with_capacity(n_rows * dimension);
        for block in blocks {
            if let Block::Memory(vectors) = block {
                values.extend(vectors.into_values());
            }
        }
        Collected::Memory(Vectors::new(dimension, values))
    }
}

impl VectorBlocks for Blocks {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn read(&self, take: &mut dyn FnMut(&Vectors)) -> Result<(), String> {
        for block in &self.blocks {
            match block {
                Block::Memory(vectors) => take(vectors),
                Block::File { path, n_rows } => take(&read_again(path, self.dimension, *n_rows)?),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::cache::Cache;
    use super::*;
    use crate::models::Installed;
    use closeread_books::tokens::Tokenizer;
    use closeread_books::{Book, ReadOptions};
    use closeread_retrieve::{PassageIndex, Retriever};

    #[test]
    fn a_shelf_ranks_the_same_with_vectors_in_memory_and_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        let shipped = Installed::shipped().unwrap();
        let embedder = Embedder::with_cache(&shipped, None, Cache::in_folder(folder.path())).unwrap();
        let texts = ["The tide came in. Nobody was on the pier.", "Ana paid 1,200 marks. Ben paid none.", "Rain."];
        let book =
            |(i, text): (usize, &&str)| Book::new(format!("b{i}"), "", text.to_string(), &ReadOptions::default());
        let books: Vec<_> = texts.iter().enumerate().map(|one| Arc::new(book(one).unwrap())).collect();
        let (chunker, tokenizer) = (closeread_books::chunk::Chunker::Dos, Tokenizer::cl100k());
        let passage_index = PassageIndex::new(books, chunker, 8, &tokenizer, Book::text).unwrap();
        let query = embedder.embed(Role::Query, &["Who paid?"], |_| {}).unwrap().vectors;
        let ranking = |in_memory| {
            let mut passage_index = passage_index.clone();
            let mut vectors = Collection::new(&embedder, in_memory);
            for book in 0..texts.len() {
                let texts = passage_index.texts(passage_index.passages_of(book), Book::text).unwrap();
                vectors.embed(&texts.iter().map(String::as_str).collect::<Vec<_>>(), |_| {}).unwrap();
            }
            match vectors.finish() {
                Collected::Memory(vectors) => passage_index.put_vectors(vectors).unwrap(),
                Collected::Disk(blocks) => passage_index.put_vector_blocks(blocks).unwrap(),
            }
            [Retriever::Dense, Retriever::Hybrid].map(|r| passage_index.ranking(r, "Who paid?", Some(query.row(0))))
        };
        let in_memory = ranking(true);
        assert_eq!(ranking(false), in_memory);
        assert_eq!(in_memory[0].as_ref().unwrap().len(), passage_index.passages().len());
        std::fs::remove_dir_all(folder.path()).unwrap();
        std::fs::create_dir(folder.path()).unwrap();
    }

    #[test]
    fn vectors_that_vanish_from_the_disk_are_an_error_that_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let shipped = Installed::shipped().unwrap();
        let embedder = Embedder::with_cache(&shipped, None, Cache::in_folder(folder.path())).unwrap();
        let mut vectors = Collection::new(&embedder, false);
        vectors.embed(&["The tide came in."], |_| {}).unwrap();
        let Collected::Disk(blocks) = vectors.finish() else { panic!("asked for vectors on disk") };
        assert_eq!(blocks.n_rows(), 1);
        std::fs::remove_dir_all(folder.path()).unwrap();
        let error = blocks.read(&mut |_| {}).unwrap_err();
        assert!(error.contains(".vec") && error.contains("run again"), "{error}");
        std::fs::create_dir(folder.path()).unwrap();
    }
}
