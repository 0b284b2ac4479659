//! Lists the shipped adapters, so that the library carries them; and, with the feature `torch`, lets
//! this package's tests and examples find libtorch where it was linked from, so that they run
//! without LD_LIBRARY_PATH.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-env-changed=LIBTORCH");
    println!("cargo:rerun-if-changed=build.rs");
    let torch = env::var_os("CARGO_FEATURE_TORCH").is_some();
    if let (true, Ok(folder)) = (torch, env::var("LIBTORCH"))
        && env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "unix")
    {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}/lib");
    }
    list_adapters()
}

/// Writes `carried.rs`: an array of name, manifest and tensors of each folder in `adapters`.
fn list_adapters() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=adapters");
    let adapters = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("adapters");
    let mut folders = Vec::new();
    for entry in fs::read_dir(&adapters)? {
        let folder = entry?.path();
        if folder.join("adapter.json").is_file() {
            folders.push(folder);
        }
    }
    folders.sort();
    let mut list = String::from("&[");
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let bytes = |file: &str| format!("include_bytes!({:?})", folder.join(file));
        let (manifest, tensors) = (bytes("adapter.json"), bytes("adapter.safetensors"));
        list += &format!("({name:?}, {manifest} as &[u8], {tensors} as &[u8]),");
    }
    list.push(']');
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("carried.rs"), list)?;
    Ok(())
}
