//! The weights of a checkpoint by the names that BERT gives them.

use super::super::adapter::Adapter;
use super::super::error::ModelError;
use super::super::files::WeightFile;
use super::super::source::file_name;
use super::Table;

/// An open weight file, and how it names things.
pub(crate) struct Weights {
    file: WeightFile,
    path: String,
    /// What stands before the encoder's names: "", "bert.", "roberta.".
    prefix: String,
    /// Added to the weights as they are read.
    adapter: Option<Adapter>,
}

impl Weights {
    pub(crate) fn new(file: WeightFile, path: &std::path::Path) -> Self {
        const ANCHOR: &str = "embeddings.word_embeddings.weight";
        let prefix = match &file {
            WeightFile::SafeTensors(tensors) => tensors
                .names()
                .find_map(|name| name.strip_suffix(ANCHOR))
                .unwrap_or_default()
                .to_owned(),
            WeightFile::Packed(_) => String::new(),
        };
        Self {
            file,
            path: file_name(path),
            prefix,
            adapter: None,
        }
    }

    /// With the changes of an adapter in the weights that it names.
    pub(crate) fn changed_by(mut self, adapter: Option<Adapter>) -> Self {
        self.adapter = adapter;
        self
    }

    pub(crate) fn vector(&mut self, name: &str, width: usize) -> Result<Vec<f32>, ModelError> {
        self.read(name, &[width])
    }

    /// Row-major (rows, columns).
    pub(crate) fn matrix(
        &mut self,
        name: &str,
        rows: usize,
        columns: usize,
    ) -> Result<Vec<f32>, ModelError> {
        let mut values = self.read(name, &[rows, columns])?;
        let layer = name.strip_suffix(".weight").unwrap_or(name);
        let change = match &self.adapter {
            Some(adapter) => adapter.change(layer, rows, columns)?,
            None => None,
        };
        for (value, change) in values.iter_mut().zip(change.into_iter().flatten()) {
            *value += change;
        }
        Ok(values)
    }

    pub(crate) fn table(
        &mut self,
        name: &str,
        rows: usize,
        width: usize,
    ) -> Result<Table, ModelError> {
        let name = format!("{name}.weight");
        if let WeightFile::Packed(model) = &mut self.file
            && let Some(packed) = packed_name(&name)
            && super::super::packed::row_bytes(width).is_some()
            && model.elements(&packed) == Some((rows * width) as u64)
            && let Some(blocks) = model.blocks(&packed)?
        {
            return Ok(Table::FourBit { blocks, width });
        }
        let values = self.read(&name, &[rows, width])?;
        Ok(Table::Plain { values, width })
    }

    fn read(&mut self, name: &str, expected: &[usize]) -> Result<Vec<f32>, ModelError> {
        let wrong = |found: Vec<usize>| ModelError::Weight {
            file: self.path.clone(),
            tensor: name.to_owned(),
            found,
            expected: expected.to_vec(),
        };
        match &mut self.file {
            WeightFile::SafeTensors(tensors) => {
                let names = candidates(&self.prefix, name);
                let Some(name) = names.iter().find(|name| tensors.shape(name).is_some()) else {
                    return Err(wrong(Vec::new()));
                };
                match tensors.shape(name) {
                    Some(found) if found != expected => Err(wrong(found.to_vec())),
                    _ => tensors.read(name),
                }
            }
            WeightFile::Packed(model) => {
                let Some(packed) = packed_name(name) else {
                    return Err(wrong(Vec::new()));
                };
                let count = expected.iter().product::<usize>() as u64;
                match model.elements(&packed) {
                    Some(found) if found == count => model.read(&packed),
                    Some(found) => Err(wrong(vec![found as usize])),
                    None => Err(wrong(Vec::new())),
                }
            }
        }
    }
}

/// Where a weight may be found: under the prefix, under its whole name, and under the names that
/// the first BERT checkpoints gave to layer norms.
fn candidates(prefix: &str, name: &str) -> Vec<String> {
    let old = name
        .replace("LayerNorm.weight", "LayerNorm.gamma")
        .replace("LayerNorm.bias", "LayerNorm.beta");
    let mut names = vec![format!("{prefix}{name}"), name.to_owned()];
    if old != name {
        names.push(format!("{prefix}{old}"));
    }
    names
}

/// The packed file's name of a weight.
fn packed_name(name: &str) -> Option<String> {
    let (name, end) = match name.strip_suffix(".weight") {
        Some(name) => (name, "w"),
        None => (name.strip_suffix(".bias")?, "b"),
    };
    let plain = match name {
        "embeddings.word_embeddings" => Some("emb.word"),
        "embeddings.position_embeddings" => Some("emb.pos"),
        "embeddings.token_type_embeddings" => Some("emb.type"),
        _ => None,
    };
    if let Some(plain) = plain {
        return Some(plain.to_owned());
    }
    if name == "embeddings.LayerNorm" {
        return Some(format!("emb.ln.{end}"));
    }
    let (layer, part) = name.strip_prefix("encoder.layer.")?.split_once('.')?;
    let part = match part {
        "attention.self.query" => "q",
        "attention.self.key" => "k",
        "attention.self.value" => "v",
        "attention.output.dense" => "ao",
        "attention.output.LayerNorm" => "aln",
        "intermediate.dense" => "fi",
        "output.dense" => "fo",
        "output.LayerNorm" => "oln",
        _ => return None,
    };
    Some(format!("l{layer}.{part}.{end}"))
}
