//! How much memory a large folder takes.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::program::Folder;

/// A generator of its own (xorshift), so that the folder is the same for ever.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % end
    }
}

/// Markdown of about ten kilobytes: sections, paragraphs, words of a vocabulary of 20,000 of which
/// some are frequent and most are rare.
fn text(numbers: &mut Numbers) -> String {
    let mut out = String::new();
    while out.len() < 10_000 {
        out.push_str(&format!("## Section {}\n\n", numbers.below(1_000)));
        for _ in 0..3 + numbers.below(4) {
            for at in 0..8 + numbers.below(12) {
                let rank = numbers.below(20_000) * numbers.below(20_000) / 20_000;
                let comma = if at % 7 == 6 { "," } else { "" };
                out.push_str(&format!("word{rank}{comma} "));
            }
            out.push_str("ends here. ");
        }
        out.push_str("\n\n");
    }
    out
}

/// What indexing a folder of so many megabytes took.
struct Peak {
    /// Kilobytes resident, mapped files among them, which the system may drop at any time.
    resident: u64,
    /// Kilobytes that are the program's own.
    own: u64,
    /// The same until the file of vectors was whole: what comes after is the file of postings.
    own_until_vectors: u64,
    /// Kilobytes of the file of postings.
    postings: u64,
    /// Kilobytes of all vectors.
    vectors: u64,
    /// Kilobytes of its own that `doctor` took afterwards.
    doctor: u64,
    time: Duration,
}

fn index(megabytes: usize) -> Peak {
    let folder = Folder::empty();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for at in 0..megabytes * 100 {
        folder.write(&format!("all/{}/{at}.md", at / 100), text(&mut numbers));
    }
    let begun = Instant::now();
    let mut own_until_vectors = 0;
    let vec_file = folder.path().join("a.db.vec");
    let (resident, own) = peak(&folder, "index all --db a.db --acl public --quiet", |own| {
        if !vec_file.exists() {
            own_until_vectors = own;
        }
    });
    let time = begun.elapsed();
    let (_, doctor) = peak(&folder, "doctor --db a.db", |_| {});
    let stats = folder.run("stats --db a.db --json").expect(0).json();
    let number = |key: &str| stats[key].as_u64().unwrap();
    Peak {
        resident,
        own,
        own_until_vectors,
        postings: fs::metadata(folder.path().join("a.db.postings"))
            .unwrap()
            .len()
            / 1024,
        vectors: number("vectors") * number("dimension") * 4 / 1024,
        doctor,
        time,
    }
}

/// Runs a command, and gives the most that it held: kilobytes resident, and of its own. `look` is
/// told the latter again and again.
fn peak(folder: &Folder, arguments: &str, mut look: impl FnMut(u64)) -> (u64, u64) {
    let mut child = folder
        .command()
        .args(arguments.split_whitespace())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let (mut resident, mut own) = (0, 0);
    loop {
        // Gone as soon as the process has ended; the last look before that is the one that counts.
        let text = fs::read_to_string(&status).unwrap_or_default();
        let kilobytes = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        };
        resident = resident.max(kilobytes("VmHWM:").unwrap_or(0));
        own = own.max(kilobytes("RssAnon:").unwrap_or(0));
        look(own);
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            return (resident, own);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// `cargo test --release -p cornu-cli --test it memory -- --ignored --nocapture`
#[cfg(target_os = "linux")]
#[test]
#[ignore = "writes 60 MB and indexes it; asks for a release build"]
fn neither_vectors_nor_postings_take_memory() {
    let (small, large) = (index(10), index(50));
    for (size, peak) in [(10, &small), (50, &large)] {
        eprintln!(
            "{size} MB in {:.1?}: resident {} kB, own {} kB, {} kB of it until the vectors ({} kB) \
             were written, then postings ({} kB); doctor {} kB",
            peak.time,
            peak.resident,
            peak.own,
            peak.own_until_vectors,
            peak.vectors,
            peak.postings,
            peak.doctor
        );
    }
    // Texts and vectors go by; caches are full either way.
    assert!(
        large.vectors > small.vectors + 64 * 1024,
        "too few vectors to tell"
    );
    assert!(large.own_until_vectors < small.own_until_vectors + 32 * 1024);
    // Postings are sorted in runs of one size; what is left of each chunk are its places in them.
    assert!(
        large.postings > small.postings + 16 * 1024,
        "too few postings to tell"
    );
    assert!(large.own < small.own + 32 * 1024);
    // The doctor writes them again, in the same way.
    assert!(large.doctor < small.doctor + 32 * 1024);
}
