//! `core`'s suite for stores, by each route.

use cornu_core::testing::conformance::{Rule, StoreOptions, check_store};
use cornu_store::Route;

use crate::sample::{Home, settle};

fn conforms(route: Route, dimension: usize, seed: u64) {
    let options = StoreOptions {
        cases: 24,
        seed,
        ..StoreOptions::new(dimension)
    };
    let report = check_store(|| Home::new(dimension, route), &options)
        .unwrap_or_else(|violation| panic!("{violation}"));
    for rule in [
        Rule::NonInterference,
        Rule::Complete,
        Rule::Ties,
        Rule::NothingWritten,
    ] {
        assert!(report.checked(rule) > 0, "{rule:?} was not checked");
    }
}

#[test]
fn by_the_route_that_the_store_chooses() {
    conforms(Route::Auto, 4, 1);
}

#[test]
fn by_sql() {
    conforms(Route::Sql, 4, 2);
}

#[test]
fn by_the_resident_vectors() {
    conforms(Route::Resident, 4, 3);
}

#[test]
fn by_the_vectors_of_record() {
    conforms(Route::Facts, 19, 4);
}

/// The `.vec` file is written, mapped and brought up to date between all writes.
#[test]
fn by_the_mapped_file() {
    let options = StoreOptions {
        cases: 8,
        seed: 5,
        ..StoreOptions::new(5)
    };
    let home = || Home::new(5, Route::Resident).before_view(|store| store.prepare().unwrap());
    check_store(home, &options).unwrap_or_else(|violation| panic!("{violation}"));
}

/// Ids of chunks lie in the large table, the small one or both.
#[test]
fn by_settled_ids() {
    let options = StoreOptions {
        cases: 8,
        seed: 6,
        ..StoreOptions::new(3)
    };
    let home = || Home::new(3, Route::Auto).before_view(settle);
    check_store(home, &options).unwrap_or_else(|violation| panic!("{violation}"));
}
