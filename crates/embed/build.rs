//! With the feature `torch`: lets this package's tests and examples find libtorch where it was
//! linked from, so that they run without LD_LIBRARY_PATH.

fn main() {
    println!("cargo:rerun-if-env-changed=LIBTORCH");
    println!("cargo:rerun-if-changed=build.rs");
    let torch = std::env::var_os("CARGO_FEATURE_TORCH").is_some();
    if let (true, Ok(folder)) = (torch, std::env::var("LIBTORCH"))
        && std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "unix")
    {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}/lib");
    }
}
