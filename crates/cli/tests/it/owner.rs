//! The owner's commands.

use crate::program::Folder;

#[test]
fn a_sound_index_is_found_sound_and_a_damaged_one_is_not() {
    let folder = Folder::indexed();
    let run = folder.run("doctor --db all.db").expect(0);
    assert_eq!(run.out, "everything holds\n");
    assert_eq!(
        folder.run("doctor --db all.db --json").expect(0).json()["healthy"],
        true
    );

    let vec = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains(".vec"))
        .expect("`index` leaves a file of vectors");
    let mut bytes = std::fs::read(&vec).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 0x40;
    std::fs::write(&vec, bytes).unwrap();
    let json = folder.run("doctor --db all.db --json").expect(1).json();
    assert_eq!(json["healthy"], false);
    assert_eq!(json["findings"][0]["remedy"], "run `rebuild-index`");
    folder.run("rebuild-index --db all.db").expect(0);
    folder.run("doctor --db all.db").expect(0);
}

#[test]
fn what_is_removed_is_gone() {
    let folder = Folder::indexed();
    let run = folder
        .run("remove hr/pay.md absent.md --db all.db --json")
        .expect(1);
    assert_eq!(
        run.out,
        "{\"removed\":[\"hr/pay.md\"],\"absent\":[\"absent.md\"]}\n"
    );
    assert!(
        run.err.contains("absent.md is not in the index"),
        "{}",
        run.err
    );
    folder.run("remove absent.md --db all.db").expect(3);
    folder
        .asks("search", "salary", "--db all.db --group hr")
        .expect(3);
    folder.run("remove a.md --db none.db").expect(2);
    assert!(!folder.path().join("none.db").exists());
    folder.run("rebuild-index --vacuum --db all.db").expect(0);
    folder.run("doctor --db all.db").expect(0);
}

#[test]
fn statistics_count_everything() {
    let folder = Folder::indexed();
    let json = folder.run("stats --db all.db --json").expect(0).json();
    assert_eq!(json["documents"], 3);
    assert_eq!(json["dimension"], 512);
    let run = folder.run("stats --db all.db").expect(0);
    assert!(run.out.starts_with("documents       3\n"), "{}", run.out);
}
