//! What one principal sees of one state of an index.

use std::fmt;

use roaring::RoaringBitmap;

use crate::acl::{Acl, Principal};
use crate::id::{ContentHash, DocId};

/// One document of an index, as [`View::resolve`] needs it.
///
/// See [`View`] for an example.
#[derive(Clone, Copy, Debug)]
pub struct ViewEntry<'a> {
    /// The index's own number for the document. It never leaves the index.
    pub ordinal: u32,
    /// The document's name.
    pub id: &'a DocId,
    /// Hash of the document's source.
    pub content: &'a ContentHash,
    /// Who may see it.
    pub acl: &'a Acl,
}

/// What one principal sees of one state of an index: the documents, and a digest of them.
///
/// Every search takes a view; there is no call without. Whatever depends on the collection (idf,
/// average length, a normalisation's extremes) is computed within the view, and may be cached by
/// [`digest`](Self::digest): two views with the same digest see the same documents with the same
/// sources, whatever else their indexes hold. The digest names sources, not what was made of them:
/// a cache has to be dropped when a document is chunked or embedded anew, or carry the fingerprints
/// of chunker and provider in its key.
///
/// The epoch is the index's own business. It moves with every commit, also with one that the
/// principal does not see, so it must not reach what the principal gets; and as little may
/// [`since`](Self::since), which tells when the last one was that they do see.
///
/// ```
/// use cornu_core::{Acl, ContentHash, DocId, Principal, View, ViewEntry};
///
/// let id = DocId::new("a.md")?;
/// let content = ContentHash::of(b"a");
/// let acl = Acl::public();
/// let entry = ViewEntry { ordinal: 3, id: &id, content: &content, acl: &acl };
/// let view = View::resolve(&Principal::public(), 1, [entry]);
/// assert_eq!(view.ordinals().collect::<Vec<_>>(), [3]);
/// assert!(View::resolve(&Principal::new(["hr"])?, 1, [entry]).is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct View {
    principal: Principal,
    epoch: u64,
    since: u64,
    visible: RoaringBitmap,
    digest: [u8; 32],
}

impl View {
    /// Keeps the entries that admit the principal. O(n log n) time for n visible documents, a few
    /// bits a document.
    ///
    /// `epoch` is the state of the index that the entries were read from; the index compares it,
    /// nobody else does. The digest depends neither on it nor on ordinals nor on hidden entries.
    #[must_use]
    pub fn resolve<'a>(
        principal: &Principal,
        epoch: u64,
        entries: impl IntoIterator<Item = ViewEntry<'a>>,
    ) -> Self {
        let mut seen: Vec<(&DocId, &ContentHash)> = Vec::new();
        let mut visible = RoaringBitmap::new();
        for entry in entries {
            if entry.acl.admits(principal) {
                visible.insert(entry.ordinal);
                seen.push((entry.id, entry.content));
            }
        }
        let digest = digest(seen);
        Self {
            principal: principal.clone(),
            epoch,
            since: epoch,
            visible,
            digest,
        }
    }

    /// The same view of a later state of the index, in which the principal sees what they saw in
    /// this one: no document more, none less, none changed. Whether that is so only the index can
    /// know. For a state that is not later, this view. O(visible documents), in a few bits each.
    ///
    /// ```
    /// use cornu_core::{Principal, View};
    /// let then = View::resolve(&Principal::public(), 3, []);
    /// let now = then.carried_to(5);
    /// assert_eq!((now.since(), now.epoch()), (3, 5));
    /// assert!(now.stood_at(4) && !then.stood_at(4));
    /// ```
    #[must_use]
    pub fn carried_to(&self, epoch: u64) -> Self {
        Self {
            epoch: epoch.max(self.epoch),
            ..self.clone()
        }
    }

    /// Who sees.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// The state of the index that the view was read from.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The earliest state from which on each of its documents is known to have stood as it is and
    /// to have been seen; at the latest its [`epoch`](Self::epoch). As that, it must not reach what
    /// the principal gets.
    #[must_use]
    pub fn since(&self) -> u64 {
        self.since
    }

    /// Whether each of its documents stood as it is in that state, and was seen. So what was
    /// derived from all documents of that state holds all of this view's.
    #[must_use]
    pub fn stood_at(&self, epoch: u64) -> bool {
        (self.since..=self.epoch).contains(&epoch)
    }

    /// Whether the document with this ordinal is seen. O(log n).
    #[must_use]
    pub fn contains(&self, ordinal: u32) -> bool {
        self.visible.contains(ordinal)
    }

    /// The ordinals of the documents that are seen, ascending.
    pub fn ordinals(&self) -> impl Iterator<Item = u32> {
        self.visible.iter()
    }

    /// The greatest of these ordinals. O(1).
    #[must_use]
    pub fn last_ordinal(&self) -> Option<u32> {
        self.visible.max()
    }

    /// Number of documents that are seen.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.visible.len()
    }

    /// Whether nothing is seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.visible.is_empty()
    }

    /// blake3 over the names and content hashes of the documents that are seen, in order of name.
    #[must_use]
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }
}

/// Hashed in pieces of this size: blake3 takes many blocks of one long input at a time.
const PIECE: usize = 1 << 16;

fn digest(mut seen: Vec<(&DocId, &ContentHash)>) -> [u8; 32] {
    sort(&mut seen);
    let mut hasher = blake3::Hasher::new_derive_key("cornu view v1");
    let mut piece = Vec::new();
    for (id, content) in seen {
        piece.extend_from_slice(&(id.as_str().len() as u64).to_le_bytes());
        piece.extend_from_slice(id.as_str().as_bytes());
        piece.extend_from_slice(content.as_bytes());
        if piece.len() >= PIECE {
            hasher.update(&piece);
            piece.clear();
        }
    }
    hasher.update(&piece);
    *hasher.finalize().as_bytes()
}

/// By name, then by content. Names mostly begin alike, so they are compared by the 16 bytes after
/// what all have in common, which stand in a row in memory, and by the rest only where those are
/// equal. A name holds no zero byte, so the end of a name sorts as zeros do.
fn sort(seen: &mut Vec<(&DocId, &ContentHash)>) {
    let Some(first) = seen.first().map(|(id, _)| id.as_str().as_bytes()) else {
        return;
    };
    let common = seen.iter().fold(first.len(), |common, (id, _)| {
        let pairs = id.as_str().as_bytes().iter().zip(first).take(common);
        pairs.take_while(|(a, b)| a == b).count()
    });
    let key = |id: &DocId| {
        let mut key = [0; 16];
        let rest = id.as_str().as_bytes().iter().skip(common);
        key.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        u128::from_be_bytes(key)
    };
    let mut keyed: Vec<(u128, (&DocId, &ContentHash))> = seen
        .iter()
        .map(|&(id, content)| (key(id), (id, content)))
        .collect();
    keyed.sort_unstable();
    seen.clear();
    seen.extend(keyed.into_iter().map(|(_, pair)| pair));
}

/// Since when it stands is not compared: it tells whether somebody asked before.
impl PartialEq for View {
    fn eq(&self, other: &Self) -> bool {
        let all = |view: &Self| (view.epoch, view.digest);
        all(self) == all(other)
            && self.principal == other.principal
            && self.visible == other.visible
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest: String = self
            .digest
            .iter()
            .take(4)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        f.debug_struct("View")
            .field("principal", &self.principal)
            .field("documents", &self.visible.len())
            .field("digest", &digest)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that are prefixes of one another, that differ late, or that are the same.
    #[test]
    fn names_are_sorted_as_names() {
        let tail = "x".repeat(40);
        let names = [
            "folder/a",
            "folder/",
            "folder/a/b",
            "folder/é",
            "folder/z",
            "folder/a b",
            "folder/a",
        ];
        let mut ids: Vec<DocId> = names.iter().map(|name| DocId::new(name).unwrap()).collect();
        for name in ["b", "a", "", "\u{10ffff}"] {
            ids.push(DocId::new(&format!("folder/{tail}{name}")).unwrap());
        }
        let contents: Vec<_> = (0..ids.len() as u8)
            .map(|at| ContentHash::of(&[at]))
            .collect();
        let mut sorted: Vec<_> = ids.iter().zip(&contents).collect();
        let mut expected = sorted.clone();
        expected.sort();
        sort(&mut sorted);
        assert_eq!(sorted, expected);
        // With one name that shares nothing, and with one name alone.
        let other = DocId::new("other").unwrap();
        sorted.push((&other, &contents[0]));
        sorted.rotate_left(3);
        expected.push((&other, &contents[0]));
        sort(&mut sorted);
        assert_eq!(sorted, expected);
        let mut one = vec![(&other, &contents[0])];
        sort(&mut one);
        assert_eq!(one.len(), 1);
    }
}
