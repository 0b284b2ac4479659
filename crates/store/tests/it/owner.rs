//! What an owner is told about documents that nobody else sees.

use cornu_core::{Acl, DocId, FactStore};
use cornu_store::{Access, Options, Route, SqliteVecStore};

use crate::sample::{Home, Numbers};

const HERE: &str = "/here";
const THERE: &str = "/there";

fn id(name: &str) -> DocId {
    DocId::new(name).unwrap()
}

fn filled() -> Home {
    let home = Home::new(8, Route::Auto);
    let mut numbers = Numbers(5);
    for (name, acl) in [
        ("b.md", Acl::nobody()),
        ("a.md", Acl::public()),
        ("c.md", Acl::new(["hr", "board"]).unwrap()),
    ] {
        let mut facts = numbers.document(name, 8);
        facts.acl = acl;
        home.upsert(&facts).unwrap();
    }
    home
}

#[test]
fn all_documents_are_listed_with_what_is_known_of_them() {
    let home = filled();
    assert_eq!(
        home.all_documents().unwrap(),
        [id("a.md"), id("b.md"), id("c.md")]
    );
    let hidden = home.known(&id("b.md")).unwrap().unwrap();
    assert!(hidden.acl.is_empty() && hidden.chunks > 0 && hidden.origin.is_none());
    let some = home.known(&id("c.md")).unwrap().unwrap();
    assert_eq!(some.acl, Acl::new(["board", "hr"]).unwrap());
    assert_eq!(home.known(&id("absent.md")).unwrap(), None);
}

#[test]
fn an_origin_goes_with_the_version_it_was_noted_for_and_moves_no_epoch() {
    let home = filled();
    assert_eq!(home.documents_from(HERE).unwrap(), []);
    let (a, b, c, absent) = (id("a.md"), id("b.md"), id("c.md"), id("absent.md"));
    let epoch = home.epoch().unwrap();
    home.note_origin(HERE, &[&a, &b, &absent]).unwrap();
    home.note_origin(THERE, &[&c]).unwrap();
    assert_eq!(home.documents_from(HERE).unwrap(), [a.clone(), b.clone()]);
    // The last one counts.
    home.note_origin(THERE, &[&b]).unwrap();
    assert_eq!(home.documents_from(HERE).unwrap(), [id("a.md")]);
    assert_eq!(home.documents_from(THERE).unwrap(), [b.clone(), c.clone()]);
    assert_eq!(home.epoch().unwrap(), epoch);

    home.upsert(&Numbers(77).document("b.md", 8)).unwrap();
    home.remove(&c).unwrap();
    assert_eq!(home.documents_from(THERE).unwrap(), []);
    assert_eq!(home.known(&b).unwrap().unwrap().origin, None);
    assert_eq!(home.doctor().unwrap(), []);
}

#[test]
fn a_file_that_may_only_be_read_tells_and_notes_nothing() {
    let home = filled();
    let path = home.path();
    let folder = home.close();
    let options = Options {
        access: Access::ReadOnly,
        ..Options::default()
    };
    let store = SqliteVecStore::open_existing(&path, &options).unwrap();
    assert_eq!(store.all_documents().unwrap().len(), 3);
    assert_eq!(store.documents_from(HERE).unwrap(), []);
    store.note_origin(HERE, &[&id("a.md")]).unwrap_err();
    drop(folder);
}
