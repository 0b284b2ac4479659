//! sqlite-vec, linked in.

use std::ffi::{c_char, c_int};
use std::sync::OnceLock;

use rusqlite::auto_extension::register_auto_extension;
use rusqlite::ffi::{sqlite3, sqlite3_api_routines};

type EntryPoint = unsafe extern "C" fn(
    db: *mut sqlite3,
    error: *mut *mut c_char,
    api: *const sqlite3_api_routines,
) -> c_int;

/// Has every connection that this process opens from now on know `vec0`.
pub(crate) fn load() -> Result<(), rusqlite::Error> {
    static LOADED: OnceLock<Result<(), c_int>> = OnceLock::new();
    let loaded = LOADED.get_or_init(|| register().map_err(|error| code(&error)));
    loaded.map_err(|code| rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None))
}

#[expect(
    unsafe_code,
    reason = "an extension in C can be registered in no other way"
)]
fn register() -> Result<(), rusqlite::Error> {
    // SAFETY: the crate declares its entry point without parameters, but the C function that it
    // names has the signature of every SQLite extension, `EntryPoint`: so the pointer is cast to
    // what it really points to. The function is linked statically, so it lives as long as the
    // process; it is compiled against the SQLite that rusqlite bundles, and keeps no state of its
    // own outside of the connection it is given, so it may be called from any thread.
    unsafe {
        let entry: EntryPoint =
            std::mem::transmute::<*const (), EntryPoint>(sqlite_vec::sqlite3_vec_init as *const ());
        register_auto_extension(entry)
    }
}

fn code(error: &rusqlite::Error) -> c_int {
    error
        .sqlite_error()
        .map_or(rusqlite::ffi::SQLITE_ERROR, |error| error.extended_code)
}
