//! A view's digest follows what is seen, and nothing else.

use cornu_core::{Acl, ContentHash, DocId, Principal, View, ViewEntry};
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Entry {
    ordinal: u32,
    id: DocId,
    content: ContentHash,
    acl: Acl,
}

fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let acl = prop::sample::select(vec![
        vec![],
        vec!["public"],
        vec!["hr"],
        vec!["hr2", "public"],
    ]);
    let one = (any::<u32>(), 0_u8..3, acl).prop_map(|(ordinal, content, grants)| {
        (
            ordinal,
            ContentHash::of(&[content]),
            Acl::new(grants).unwrap(),
        )
    });
    // One id is the join of two others.
    let names = prop::sample::subsequence(vec!["a", "b", "ab", "a/b", "研", "HR", "hr"], 0..=7);
    (names, prop::collection::vec(one, 7)).prop_map(|(names, rest)| {
        let mut taken = std::collections::BTreeSet::new();
        names
            .into_iter()
            .zip(rest)
            .map(|(name, (ordinal, content, acl))| Entry {
                ordinal,
                id: DocId::new(name).unwrap(),
                content,
                acl,
            })
            .filter(|entry| taken.insert(entry.ordinal))
            .collect()
    })
}

fn resolve(who: &[&str], epoch: u64, entries: &[Entry]) -> View {
    let entries = entries.iter().map(|entry| ViewEntry {
        ordinal: entry.ordinal,
        id: &entry.id,
        content: &entry.content,
        acl: &entry.acl,
    });
    View::resolve(&Principal::new(who).unwrap(), epoch, entries)
}

proptest! {
    #[test]
    fn hidden_entries_ordinals_order_and_epoch_leave_the_digest_alone(
        entries in entries(),
        epochs in any::<[u64; 2]>(),
        shift in any::<u32>(),
    ) {
        let view = resolve(&["public"], epochs[0], &entries);
        let mut other: Vec<Entry> = entries.clone();
        other.retain(|entry| entry.acl.admits(&Principal::public()));
        other.reverse();
        for entry in &mut other {
            entry.ordinal = entry.ordinal.wrapping_add(shift);
            entry.acl = Acl::new(["public", "more"]).unwrap();
        }
        let without = resolve(&["public"], epochs[1], &other);
        prop_assert_eq!(view.digest(), without.digest());
        prop_assert_eq!(view.len(), other.len() as u64);
        prop_assert_eq!(view.is_empty(), other.is_empty());
        for entry in &entries {
            let seen = entry.acl.admits(&Principal::public());
            prop_assert_eq!(view.contains(entry.ordinal), seen);
        }
        prop_assert!(view.ordinals().is_sorted());
    }

    #[test]
    fn views_of_different_documents_have_different_digests(a in entries(), b in entries()) {
        let seen = |entries: &[Entry]| {
            let mut seen: Vec<_> = entries
                .iter()
                .filter(|entry| entry.acl.admits(&Principal::public()))
                .map(|entry| (entry.id.clone(), entry.content))
                .collect();
            seen.sort();
            seen
        };
        let (left, right) = (resolve(&["public"], 0, &a), resolve(&["public"], 0, &b));
        prop_assert_eq!(left.digest() == right.digest(), seen(&a) == seen(&b));
    }

    #[test]
    fn who_holds_nothing_sees_nothing(entries in entries()) {
        prop_assert!(resolve(&[], 0, &entries).is_empty());
    }
}

#[test]
fn what_a_view_shows_of_itself_names_no_ordinal_and_no_epoch() {
    let id = DocId::new("a").unwrap();
    let entry = |ordinal| Entry {
        ordinal,
        id: id.clone(),
        content: ContentHash::of(b"a"),
        acl: Acl::public(),
    };
    let shown = |epoch, ordinal| format!("{:?}", resolve(&["public"], epoch, &[entry(ordinal)]));
    assert_eq!(shown(987_654, 123_456), shown(1, 2));
}
