//! Vectors of the passages: what to embed next, what has come, what to keep.

use super::embedding::Embedding;
use super::shapes::ToEmbed;
use super::{Index, Retriever};
use crate::books::to_js;
use crate::error::usage;
use js_sys::{Float32Array, Object, Reflect, Uint32Array};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// `ToEmbed` in TypeScript.
    #[wasm_bindgen(typescript_type = "ToEmbed")]
    pub type JsToEmbed;
    /// `PassageVectors` in TypeScript.
    #[wasm_bindgen(typescript_type = "PassageVectors")]
    pub type JsPassageVectors;
}

#[wasm_bindgen]
impl Index {
    /// Makes room for vectors of this many numbers, computed by `model`, whatever names its weights. Vectors of another
    /// model or dimension that were there are gone.
    ///
    /// # Errors
    /// A dimension of 0.
    #[wasm_bindgen(js_name = expectVectors)]
    pub fn expect_vectors(&mut self, dimension: usize, model: Option<String>) -> Result<(), JsValue> {
        if dimension == 0 {
            return Err(usage("a vector has at least one number"));
        }
        let expected = |embedding: &Embedding| embedding.vectors.dimension() == dimension && embedding.model == model;
        if !self.embedding.as_ref().is_some_and(expected) {
            (self.embedding, self.asked) = (Some(Embedding::new(model, self.n_passages(), dimension)), None);
        }
        Ok(())
    }

    /// The next passages to embed, at most `n`: by BM25 for the question, nearest first, then the rest of the books. They
    /// count as under way until their vectors come or they are given back.
    ///
    /// # Errors
    /// No vectors are expected.
    #[wasm_bindgen(js_name = nextToEmbed)]
    pub fn next_to_embed(&mut self, question: &str, n: usize) -> Result<JsToEmbed, JsValue> {
        self.expected()?;
        let kept = self.asked.take();
        let ranking = self.ranking(question, Retriever::Bm25, 0)?;
        if kept.is_some() {
            self.asked = kept;
        }
        let passages = self.expected()?.next(&ranking, n);
        let texts = self.texts_of(passages.iter().copied())?;
        to_js(&ToEmbed { passages, texts }).map(JsCast::unchecked_into)
    }

    /// Takes the vectors of passages, one after another; a passage that has one keeps it.
    ///
    /// # Errors
    /// No vectors are expected, there is no such passage, or the numbers are not those of so many vectors, or not finite.
    #[wasm_bindgen(js_name = putVectors)]
    pub fn put_vectors(&mut self, passages: &[u32], values: &[f32]) -> Result<(), JsValue> {
        let n = self.n_passages();
        let embedding = self.expected()?;
        if let Some(passage) = passages.iter().find(|passage| **passage as usize >= n) {
            return Err(usage(&format!("there is no passage {passage}: the index has {n}, numbered from 0")));
        }
        let (dimension, n_numbers) = (embedding.vectors.dimension(), values.len());
        if n_numbers != passages.len() * dimension {
            let expected = passages.len() * dimension;
            return Err(usage(&format!(
                "{n_numbers} numbers for {} vectors of {dimension}: expected {expected}",
                passages.len()
            )));
        }
        finite(values)?;
        embedding.put(passages, values);
        Ok(())
    }

    /// Says that nobody embeds these passages any more.
    ///
    /// # Errors
    /// No vectors are expected.
    #[wasm_bindgen(js_name = giveBack)]
    pub fn give_back(&mut self, passages: &[u32]) -> Result<(), JsValue> {
        self.expected()?.give_back(passages);
        Ok(())
    }

    /// Takes the vector of a question; one question's is kept.
    ///
    /// # Errors
    /// No vectors are expected, or the vector has another dimension or a number that is not finite.
    #[wasm_bindgen(js_name = putQueryVector)]
    pub fn put_query_vector(&mut self, question: &str, vector: Vec<f32>) -> Result<(), JsValue> {
        let embedding = self.expected()?;
        let dimension = embedding.vectors.dimension();
        if vector.len() != dimension {
            return Err(usage(&format!("a vector of {} numbers: expected {dimension}", vector.len())));
        }
        finite(&vector)?;
        embedding.put_query(question.to_owned(), vector);
        Ok(())
    }

    /// Returns how many passages have vectors.
    #[wasm_bindgen(getter, js_name = nVectors)]
    pub fn n_vectors(&self) -> usize {
        self.embedding.as_ref().map_or(0, |embedding| embedding.vectors.len())
    }

    /// The vectors that have come, for [`Index::put_vectors`] in another session under the same key.
    ///
    /// # Errors
    /// No vectors are expected.
    pub fn vectors(&mut self) -> Result<JsPassageVectors, JsValue> {
        let vectors = &self.expected()?.vectors;
        let passages: Vec<u32> = vectors.iter().map(|(passage, _)| passage as u32).collect();
        let values: Vec<f32> = vectors.iter().flat_map(|(_, vector)| vector).copied().collect();
        let object = Object::new();
        Reflect::set(&object, &"dimension".into(), &vectors.dimension().into())?;
        Reflect::set(&object, &"passages".into(), &Uint32Array::from(passages.as_slice()))?;
        Reflect::set(&object, &"values".into(), &Float32Array::from(values.as_slice()))?;
        Ok(object.unchecked_into())
    }

    fn expected(&mut self) -> Result<&mut Embedding, JsValue> {
        self.embedding.as_mut().ok_or_else(|| usage("no vectors are expected: call expectVectors first"))
    }
}

/// Refuses NaN and infinity, by which passages would be ranked by chance.
fn finite(values: &[f32]) -> Result<(), JsValue> {
    if values.iter().all(|value| value.is_finite()) {
        return Ok(());
    }
    Err(usage("a vector holds a number that is not finite"))
}
