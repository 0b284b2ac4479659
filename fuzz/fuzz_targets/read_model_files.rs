//! Any bytes as a file of a model: safetensors, the packed 4-bit form, `tokenizer.json`,
//! `config.json`. Each is read or refused; nothing panics, nothing is believed that a file states.
//!
//! `cargo +nightly fuzz run read_model_files`. The first byte chooses the reader.
#![no_main]

use std::io::Cursor;
use std::sync::Once;

use cornu_embed::bert::{BertConfig, BertTokenizer, PackedModel, SafeTensors, Truncation};

/// The tokenizer library panics on some inputs; the reader contains that and gives an error. The
/// fuzzer's hook would end the process at the panic, before the reader can. Without the hook a panic
/// that nobody contains still ends it.
static CONTAINED: Once = Once::new();

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    CONTAINED.call_once(|| drop(std::panic::take_hook()));
    let Some((reader, bytes)) = bytes.split_first() else { return };
    match reader % 4 {
        0 => {
            if let Ok(mut file) = SafeTensors::new(Cursor::new(bytes), "fuzzed") {
                let names: Vec<String> = file.names().map(str::to_owned).collect();
                for name in names {
                    let _ = file.read(&name);
                }
            }
        }
        1 => {
            if let Ok(mut file) = PackedModel::new(Cursor::new(bytes), "fuzzed") {
                let names: Vec<String> = file.names().map(str::to_owned).collect();
                for name in names {
                    let _ = file.read(&name);
                }
                if let Ok(tokenizer) = file.tokenizer() {
                    let _ = tokenizer.encode("ab ①\u{301} c", "query: ", 16, Truncation::Right);
                }
            }
        }
        2 => {
            if let Ok(tokenizer) = BertTokenizer::from_json(bytes, "fuzzed") {
                let _ = tokenizer.ids("ab ① 清空梯度");
            }
        }
        _ => drop(BertConfig::from_json(bytes, "fuzzed")),
    }
});
