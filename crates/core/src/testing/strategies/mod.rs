//! Random values that look for trouble: names that nearly agree, texts that share their words,
//! vectors that tie.
//!
//! All strategies are deterministic for a given proptest seed, and shrink. None of them needs
//! more than a few kilobytes a value.
//!
//! ```
//! use cornu_core::testing::{proptest::prelude::*, strategies};
//! use cornu_core::Principal;
//!
//! proptest!(|(history in strategies::history(4))| {
//!     // What the public may see of a history holds nothing that is not public.
//!     let seen = history.without_hidden(&Principal::public());
//!     prop_assert!(seen.finally().values().all(|facts| facts.acl.admits(&Principal::public())));
//! });
//! ```

mod facts;
mod history;
mod text;

use ndarray::Array1;
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::select;

use crate::acl::{Acl, Grant, Principal};
use crate::id::DocId;

pub use facts::{document_facts, document_with_facts};
pub use history::{History, Operation, history};
pub(crate) use text::AWKWARD;
pub use text::{awkward_text, document, markdown, sentence};

/// Names of grants that a careless comparison confuses: prefixes of each other, other cases, NFC
/// and NFD of the same name, separators inside a name, several bytes a character. The first eight
/// come most often.
const GRANT_NAMES: &[&str] = &[
    "public",
    "hr",
    "hr2",
    "HR",
    "caf\u{e9}",
    "cafe\u{301}",
    "研发部",
    "研发",
    "a,b",
    "h",
    "cafe",
    "Public",
    "public2",
    "研发\u{3000}部",
    "-ops",
    "a",
    "🔒组",
];

/// Names of documents that join to the same string, or are prefixes of each other.
const DOC_NAMES: &[&str] = &[
    "a.md",
    "a.md2",
    "A.md",
    "docs/a.md",
    "hr_fin_1",
    "hr_fin/1",
    "财务/一季报.md",
    "cafe\u{301}.md",
    "ml/04-autograd.md",
    "a",
];

/// Names that are grants, raw: NFC and NFD twins, prefixes, cases, separators, any letters.
///
/// ```
/// use cornu_core::{Grant, testing::{proptest::prelude::*, strategies}};
/// proptest!(|(name in strategies::grant_name())| { prop_assert!(Grant::new(&name).is_ok()); });
/// ```
pub fn grant_name() -> impl Strategy<Value = String> {
    let letters = vec(any::<char>(), 1..6).prop_map(String::from_iter);
    prop_oneof![
        6 => select(&GRANT_NAMES[..8]).prop_map(str::to_owned),
        3 => select(GRANT_NAMES).prop_map(str::to_owned),
        1 => letters.prop_filter("no grant", |name| Grant::new(name).is_ok()),
    ]
}

/// Grants; see [`grant_name`].
///
/// ```
/// use cornu_core::testing::{proptest::prelude::*, strategies};
/// proptest!(|(grant in strategies::grant())| { prop_assert!(!grant.as_str().is_empty()); });
/// ```
pub fn grant() -> impl Strategy<Value = Grant> {
    grant_name().prop_filter_map("no grant", |name| Grant::new(&name).ok())
}

/// Principals: holders of nothing, of `public` alone, of up to four grants with or without it.
///
/// ```
/// use cornu_core::testing::{proptest::prelude::*, strategies};
/// proptest!(|(who in strategies::principal())| { prop_assert!(who.grants().count() <= 5); });
/// ```
pub fn principal() -> impl Strategy<Value = Principal> {
    let some = (btree_set(grant(), 1..=4), any::<bool>()).prop_map(|(mut grants, public)| {
        if public {
            grants.extend(Principal::public().grants().cloned());
        }
        grants.into_iter().collect::<Principal>()
    });
    prop_oneof![
        2 => Just(Principal::public()),
        1 => Just(Principal::default()),
        5 => some,
    ]
}

/// ACLs: the empty one (one in eight), `public` alone, up to three grants.
///
/// ```
/// use cornu_core::testing::{proptest::prelude::*, strategies};
/// proptest!(|(acl in strategies::acl())| { prop_assert!(acl.grants().count() <= 3); });
/// ```
pub fn acl() -> impl Strategy<Value = Acl> {
    prop_oneof![
        3 => Just(Acl::public()),
        1 => Just(Acl::nobody()),
        4 => btree_set(grant(), 1..=3).prop_map(Acl::from_iter),
    ]
}

/// Document ids: pairs that join to the same string, prefixes, other cases, any letters.
///
/// ```
/// use cornu_core::testing::{proptest::prelude::*, strategies};
/// proptest!(|(id in strategies::doc_id())| { prop_assert!(!id.as_str().is_empty()); });
/// ```
pub fn doc_id() -> impl Strategy<Value = DocId> {
    let letters = vec(any::<char>(), 1..12).prop_map(String::from_iter);
    prop_oneof![
        6 => select(DOC_NAMES).prop_map(str::to_owned),
        1 => letters,
    ]
    .prop_filter_map("no document id", |name| DocId::new(&name).ok())
}

/// Vectors of L2 norm 1, of shape (`dimension`): half of them small integers scaled, so that equal
/// scores and equal vectors are common; half of them anywhere on the sphere.
///
/// `dimension` is at least 1.
///
/// ```
/// use cornu_core::testing::{proptest::prelude::*, strategies};
/// proptest!(|(v in strategies::unit_vector(8))| {
///     prop_assert!((v.dot(&v) - 1.0).abs() < 1e-5);
/// });
/// ```
pub fn unit_vector(dimension: usize) -> impl Strategy<Value = Array1<f32>> {
    let lattice = vec(-2_i8..=2, dimension)
        .prop_map(|values| values.into_iter().map(f32::from).collect::<Vec<_>>());
    let sphere = vec(-1.0_f32..=1.0, dimension);
    prop_oneof![lattice, sphere].prop_map(direction)
}

/// The unit vector in the direction of `values`; the first axis when they are all zero.
fn direction(mut values: Vec<f32>) -> Array1<f32> {
    let norm = |values: &[f32]| {
        let squares = values.iter().map(|&x| f64::from(x) * f64::from(x));
        squares.sum::<f64>().sqrt()
    };
    if norm(&values) == 0.0
        && let Some(first) = values.first_mut()
    {
        *first = 1.0;
    }
    let length = norm(&values);
    values
        .into_iter()
        .map(|x| (f64::from(x) / length) as f32)
        .collect()
}
