//! The XLM-R tokenizer of a packed model, built in memory.

use tokenizers::models::unigram::Unigram;
use tokenizers::pre_tokenizers::metaspace::{Metaspace, PrependScheme};
use tokenizers::processors::template::TemplateProcessing;
use tokenizers::{Encoding, TokenizerImpl};

use super::super::error::ModelError;
use super::{CharMap, Pieces};

/// SentencePiece Unigram: normalisation, spaces to U+2581, the best segmentation, and
/// `<s> … </s>` around it (`<s> … </s></s> … </s>` for pairs).
pub(crate) struct PackedTokenizer(
    TokenizerImpl<Unigram, CharMap, Metaspace, TemplateProcessing, Metaspace>,
);

impl PackedTokenizer {
    pub(super) fn new(pieces: &Pieces, map: CharMap, file: &str) -> Result<Self, ModelError> {
        let failed = |error: tokenizers::Error| ModelError::Tokenizer {
            file: file.to_owned(),
            what: error.to_string(),
        };
        let special = [pieces.bos, pieces.eos, pieces.pad, pieces.unknown];
        let vocabulary = pieces
            .text
            .iter()
            .zip(&pieces.scores)
            .enumerate()
            .map(|(id, (text, score))| {
                // A control piece never stands for text. U+0000 does not survive normalisation,
                // so that its entry cannot match.
                let control = special.iter().any(|&special| special as usize == id)
                    || (text.len() > 2 && text.starts_with('<') && text.ends_with('>'));
                let text = if control || text.is_empty() {
                    format!("\0{id}")
                } else {
                    text.clone()
                };
                (text, f64::from(*score))
            })
            .collect();
        let model =
            Unigram::from(vocabulary, Some(pieces.unknown as usize), false).map_err(failed)?;
        let template = TemplateProcessing::builder()
            .try_single("<s> $A </s>")
            .and_then(|builder| builder.try_pair("<s> $A </s> </s> $B </s>"))
            .map_err(|error| failed(error.into()))?
            .special_tokens(vec![("<s>", pieces.bos), ("</s>", pieces.eos)])
            .build()
            .map_err(|error| failed(error.to_string().into()))?;
        let mut tokenizer = TokenizerImpl::new(model);
        tokenizer.with_normalizer(Some(map)).map_err(failed)?;
        tokenizer.with_pre_tokenizer(Some(Metaspace::new('▁', PrependScheme::Always, true)));
        tokenizer.with_post_processor(Some(template));
        Ok(Self(tokenizer))
    }

    pub(crate) fn encode(&self, text: &str) -> tokenizers::Result<Encoding> {
        self.0.encode(text, false)
    }

    pub(crate) fn post_process(
        &self,
        text: Encoding,
        pair: Option<Encoding>,
    ) -> tokenizers::Result<Encoding> {
        self.0.post_process(text, pair, true)
    }
}
