//! The `cargo xtask` program: see the library part of this package for what it does.

use std::process::ExitCode;

fn main() -> ExitCode {
    xtask::main()
}
