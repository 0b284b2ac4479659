//! Grants are whole, NFC, byte for byte; the empty ACL admits nobody.

use cornu_core::acl::MAX_GRANT_BYTES;
use cornu_core::{Acl, AclError, Grant, Principal};
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

/// Names with composed letters, marks, separators, CJK and emoji.
fn name() -> impl Strategy<Value = String> {
    let letter = prop::sample::select(vec![
        "h",
        "H",
        "r",
        "2",
        ":",
        ",",
        "-",
        "/",
        "*",
        "é",
        "e\u{301}",
        "e",
        "\u{301}",
        "研",
        "ﬁ",
        "\u{212b}",
        "Å",
        "🔒",
        "\u{1100}\u{1161}",
        "가",
        "public",
    ]);
    prop::collection::vec(letter, 1..6).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn a_grant_is_its_nfc_form_byte_for_byte(a in name(), b in name()) {
        let (nfc_a, nfc_b) = (a.nfc().collect::<String>(), b.nfc().collect::<String>());
        let (grant_a, grant_b) = (Grant::new(&a).unwrap(), Grant::new(&b).unwrap());
        prop_assert_eq!(grant_a.as_str(), &nfc_a);
        prop_assert_eq!(grant_a == grant_b, nfc_a.as_bytes() == nfc_b.as_bytes());
        prop_assert_eq!(Grant::new(&a.nfd().collect::<String>()).unwrap(), grant_a);
    }

    #[test]
    fn an_acl_admits_exactly_those_who_share_a_grant(
        granted in prop::collection::vec(name(), 0..4),
        held in prop::collection::vec(name(), 0..4),
    ) {
        let nfc = |names: &[String]| -> Vec<String> {
            names.iter().map(|name| name.nfc().collect()).collect()
        };
        let (a, b) = (nfc(&granted), nfc(&held));
        let shared = a.iter().any(|name| b.contains(name));
        let acl = Acl::new(&granted).unwrap();
        prop_assert_eq!(acl.admits(&Principal::new(&held).unwrap()), shared);
        prop_assert!(!Acl::nobody().admits(&Principal::new(&held).unwrap()));
    }

    #[test]
    fn a_grant_is_never_empty_padded_long_or_with_control_characters(text in any::<String>()) {
        if let Ok(grant) = Grant::new(&text) {
            let name = grant.as_str();
            prop_assert!(!name.is_empty() && name.len() <= MAX_GRANT_BYTES);
            prop_assert_eq!(name.trim(), name);
            prop_assert!(!name.chars().any(char::is_control));
        }
    }
}

#[test]
fn vs_18_names_with_separators_are_single_grants() {
    for name in [
        "研发部",
        "café",
        "研发\u{3000}部",
        "a,b",
        "-ops",
        "🔒组",
        "hr",
    ] {
        let acl = Acl::new([name]).unwrap();
        assert_eq!(acl.grants().count(), 1, "{name}");
        let decomposed: String = name.nfd().collect();
        assert!(acl.admits(&Principal::new([decomposed]).unwrap()), "{name}");
        for part in [
            "研发", "cafe", "部", "a", "b", "ops", "hr2", "HR", "h", "public",
        ] {
            assert!(
                !acl.admits(&Principal::new([part]).unwrap()),
                "{name} by {part}"
            );
        }
    }
}

#[test]
fn what_is_no_grant_is_named_in_the_error() {
    let long = "é".repeat(MAX_GRANT_BYTES / 2 + 1);
    assert_eq!(Grant::new(""), Err(AclError::EmptyGrant));
    assert!(matches!(
        Grant::new(&long),
        Err(AclError::LongGrant { bytes: 258 })
    ));
    assert!(Grant::new(&"é".repeat(MAX_GRANT_BYTES / 2)).is_ok());
    for padded in [" hr", "hr ", "\u{3000}hr", "hr\u{a0}"] {
        assert!(
            matches!(Grant::new(padded), Err(AclError::PaddedGrant { .. })),
            "{padded:?}"
        );
    }
    for name in ["a\0b", "a\nb", "a\u{85}b"] {
        let error = Grant::new(name).unwrap_err();
        assert!(!error.to_string().contains(char::is_control), "{error}");
    }
}
