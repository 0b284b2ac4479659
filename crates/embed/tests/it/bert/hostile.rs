//! Files that lie. Thousands of seeded changes to small valid files: no panic gets out, no
//! allocation goes beyond what the file's size allows, and the outcome is a model or an error.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Cursor;

use cornu_embed::bert::{
    BertConfig, BertTokenizer, ModelError, PackedModel, SafeTensors, Truncation,
};

use super::data;

const CHANGES: u64 = 4000;

#[test]
fn safetensors_that_lie_are_errors() {
    let file = std::fs::read(data("tiny-bge/model.safetensors")).unwrap();
    let header = 8 + u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    let (mut opened, mut refused) = (0, 0);
    for seed in 0..CHANGES {
        // Most changes go where the structure is.
        let bytes = change(&file, header, seed);
        let bound = 64 * bytes.len() + (1 << 16);
        let read = bounded(bound, || {
            let mut tensors = SafeTensors::new(Cursor::new(&bytes), "changed")?;
            let names: Vec<String> = tensors.names().map(str::to_owned).collect();
            for name in names {
                match tensors.read(&name) {
                    Ok(_) | Err(ModelError::Unsupported { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok::<_, ModelError>(())
        });
        *if read.is_ok() {
            &mut opened
        } else {
            &mut refused
        } += 1;
    }
    assert!(
        opened > 0 && refused > CHANGES / 4,
        "{opened} opened, {refused} refused"
    );
}

#[test]
fn safetensors_headers_with_impossible_sizes_are_errors() {
    let with = |header: &str, data: usize| {
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend_from_slice(header.as_bytes());
        file.resize(file.len() + data, 0);
        SafeTensors::new(Cursor::new(file), "made")
            .err()
            .map(|error| error.to_string())
    };
    let entry = |shape: &str, start: u64, end: u64| {
        format!(r#"{{"dtype":"F32","shape":{shape},"data_offsets":[{start},{end}]}}"#)
    };
    assert_eq!(with(&format!(r#"{{"a":{}}}"#, entry("[2]", 0, 8)), 8), None);
    assert_eq!(with("{}", 0), None);
    let refused = [
        with(&format!(r#"{{"a":{}}}"#, entry("[3]", 0, 8)), 8),
        with(&format!(r#"{{"a":{}}}"#, entry("[2]", 8, 0)), 8),
        with(&format!(r#"{{"a":{}}}"#, entry("[2]", 0, 8)), 7),
        with(&format!(r#"{{"a":{}}}"#, entry("[2]", 0, 8)), 9),
        with(
            &format!(r#"{{"a":{}}}"#, entry("[4611686018427387904,4]", 0, 0)),
            0,
        ),
        with(&format!(r#"{{"a":{}}}"#, entry("[-1]", 0, 8)), 8),
        with(
            &format!(
                r#"{{"a":{},"b":{}}}"#,
                entry("[2]", 0, 8),
                entry("[2]", 4, 12)
            ),
            12,
        ),
        with(
            &format!(
                r#"{{"a":{},"b":{}}}"#,
                entry("[2]", 0, 8),
                entry("[2]", 12, 20)
            ),
            20,
        ),
        with(
            r#"{"a":{"dtype":"Q9","shape":[1],"data_offsets":[0,1]}}"#,
            1,
        ),
        with("[]", 0),
        with("", 0),
        SafeTensors::new(Cursor::new(u64::MAX.to_le_bytes()), "made")
            .err()
            .map(|e| e.to_string()),
        SafeTensors::new(Cursor::new(b""), "made")
            .err()
            .map(|e| e.to_string()),
    ];
    for (at, outcome) in refused.iter().enumerate() {
        assert!(
            outcome.as_ref().is_some_and(|what| what.contains("made")),
            "{at}: {outcome:?}"
        );
    }
}

#[test]
fn tokenizers_that_lie_are_errors() {
    silence_contained_panics();
    for name in ["tiny-bge/tokenizer.json", "tiny-xlmr-pair/tokenizer.json"] {
        let file = std::fs::read(data(name)).unwrap();
        let mut opened = 0;
        for seed in 0..CHANGES {
            let bytes = change(&file, file.len(), seed);
            // The library sets up caches of 10,000 entries whatever the file holds.
            let bound = 600 * bytes.len() + (16 << 20);
            bounded(bound, || {
                if let Ok(tokenizer) = BertTokenizer::from_json(&bytes, "changed") {
                    opened += 1;
                    for text in ["what is the 梯度 ☃", "", "[CLS] </s> \u{0}"] {
                        let _ = tokenizer.encode(text, "query: ", 16, Truncation::Left);
                        let _ = tokenizer.encode_pair("the", text, 16);
                    }
                }
            });
        }
        assert!(opened > 0 && opened < CHANGES, "{opened} opened");
    }
}

#[test]
fn packed_models_that_lie_are_errors() {
    silence_contained_panics();
    let file = small_packed_model();
    let read = |bytes: &[u8]| {
        let mut packed = PackedModel::new(Cursor::new(bytes), "changed")?;
        let names: Vec<String> = packed.names().map(str::to_owned).collect();
        for name in names {
            packed.read(&name)?;
        }
        let tokenizer = packed.tokenizer()?;
        let _ = tokenizer.encode("ab ①\u{301} c", "query: ", 16, Truncation::Right);
        Ok::<_, ModelError>(tokenizer.ids("ab ba"))
    };
    assert_eq!(read(&file).unwrap().unwrap(), [7, 5, 3, 5, 4]);
    let (mut opened, mut refused) = (0, 0);
    for seed in 0..CHANGES {
        let bytes = change(&file, file.len(), seed);
        let outcome = bounded(600 * bytes.len() + (16 << 20), || read(&bytes).is_ok());
        *if outcome { &mut opened } else { &mut refused } += 1;
    }
    assert!(
        opened > 0 && refused > CHANGES / 4,
        "{opened} opened, {refused} refused"
    );
}

#[test]
fn configurations_that_lie_are_errors() {
    let file = std::fs::read(data("tiny-bge/config.json")).unwrap();
    for seed in 0..CHANGES {
        let bytes = change(&file, file.len(), seed);
        let _ = bounded(1 << 16, || BertConfig::from_json(&bytes, "changed").is_ok());
    }
}

/// A packed model of one layer with 32 dimensions, 8 pieces, and two entries in its map.
fn small_packed_model() -> Vec<u8> {
    let mut file = b"E5S1".to_vec();
    let word = |file: &mut Vec<u8>, value: u32| file.extend_from_slice(&value.to_le_bytes());
    for value in [1, 32, 1, 4, 32, 8, 16, 1] {
        word(&mut file, value);
    }
    file.extend_from_slice(&1e-12_f32.to_le_bytes());
    word(&mut file, 32);
    let pieces = ["<s>", "<pad>", "</s>", "<unk>", "a", "b", "c", "▁a"];
    for value in [8, 0, 2, 1, 3] {
        word(&mut file, value);
    }
    let blob = pieces.concat();
    file.extend_from_slice(&(blob.len() as u64).to_le_bytes());
    let mut end = 0;
    word(&mut file, 0);
    for piece in pieces {
        end += piece.len() as u32;
        word(&mut file, end);
    }
    for at in 0..8 {
        file.extend_from_slice(&(-(at as f32)).to_le_bytes());
    }
    file.extend_from_slice(blob.as_bytes());
    // U+0001 is deleted, U+2460 becomes a.
    for value in [2, 14] {
        word(&mut file, value);
    }
    word(&mut file, 1);
    file.push(0);
    word(&mut file, 0x2460);
    file.push(1);
    word(&mut file, u32::from(b'a'));
    let names: [(&[u8], u8, u32, u64); 2] = [(b"emb.word", 1, 256, 144), (b"l0.q.b", 0, 32, 128)];
    let directory = 4 + names
        .iter()
        .map(|(name, ..)| name.len() + 23)
        .sum::<usize>();
    let mut offset = (file.len() + directory) as u64;
    word(&mut file, 2);
    for (name, kind, elements, bytes) in names {
        file.extend_from_slice(&(name.len() as u16).to_le_bytes());
        file.extend_from_slice(name);
        file.push(kind);
        word(&mut file, elements);
        file.extend_from_slice(&offset.to_le_bytes());
        file.extend_from_slice(&bytes.to_le_bytes());
        offset += bytes;
    }
    file.resize(offset as usize, 0x3c);
    file
}

/// One to four changes in the first `structure` bytes, or a cut.
fn change(file: &[u8], structure: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    let mut bytes = file.to_vec();
    for _ in 0..=random(4) {
        let at = random(structure.min(bytes.len()));
        match random(8) {
            0 => bytes[at] ^= 1 << random(8),
            1 => bytes[at] = random(256) as u8,
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..(at + 1 + random(16)).min(bytes.len()))),
            4 => {
                let piece: Vec<u8> = bytes[at..(at + random(32)).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            5 => bytes[at..].iter_mut().take(4).for_each(|byte| *byte = 0xff),
            6 => bytes[at..].iter_mut().take(8).for_each(|byte| *byte = 0),
            // A digit more or another: sizes and ids in JSON.
            _ => {
                if let Some(digit) = bytes[at..].iter().position(u8::is_ascii_digit) {
                    bytes.insert(at + digit, b'0' + random(10) as u8);
                }
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

/// The tokenizer library's panics are contained and expected here; the rest speak as always.
fn silence_contained_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let foreign = panic
                .location()
                .is_some_and(|place| !place.file().contains("embed"));
            if !foreign {
                before(panic);
            }
        }));
    });
}

/// Runs with at most `bound` bytes allocated by this thread at any time.
fn bounded<T>(bound: usize, run: impl FnOnce() -> T) -> T {
    let before = HELD.with(|held| {
        PEAK.set(held.get());
        held.get()
    });
    let value = run();
    let peak = PEAK.get().saturating_sub(before);
    assert!(
        peak <= bound as isize,
        "{peak} bytes were held at once, {bound} are allowed"
    );
    value
}

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call goes to the system's allocator unchanged; beside it only thread-local cells
// without destructors are touched, which allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

fn count(change: isize) {
    let held = HELD.get() + change;
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
