//! Who may see a document, and who asks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use cornu::{Acl, DocId, Grant, Principal};

use crate::args::Asker;

impl Asker {
    /// The asker: exactly the grants of the command line.
    pub(crate) fn principal(&self) -> Result<Principal> {
        let mut grants: BTreeSet<Grant> = BTreeSet::new();
        for name in &self.groups {
            grants.insert(Grant::new(name).context("--group")?);
        }
        if self.public {
            grants.insert(Grant::new(Grant::PUBLIC)?);
        }
        Ok(grants.into_iter().collect())
    }
}

/// What `--acl` and `--acl-map` say.
#[derive(Debug)]
pub(crate) struct Grants {
    otherwise: Option<Acl>,
    prefixes: BTreeMap<String, Acl>,
}

impl Grants {
    pub(crate) fn new(acl: &[String], map: Option<&Path>) -> Result<Self> {
        let otherwise = match acl {
            [] => None,
            names => Some(Acl::new(names).context("--acl")?),
        };
        let prefixes = match map {
            None => BTreeMap::new(),
            Some(path) => std::fs::read_to_string(path)
                .map_err(Into::into)
                .and_then(|text| read_map(&text))
                .with_context(|| format!("cannot use the map of grants {}", path.display()))?,
        };
        ensure!(
            otherwise.is_some() || !prefixes.is_empty(),
            "nobody is named who may see the documents; give --acl GRANT (`--acl public` for \
             everybody), or a map with at least one prefix"
        );
        Ok(Self {
            otherwise,
            prefixes,
        })
    }

    /// The grants of a document: those of its longest prefix, else those of `--acl`.
    pub(crate) fn of(&self, doc: &DocId) -> Option<&Acl> {
        let matched = prefixes_of(doc.as_str()).find_map(|prefix| self.prefixes.get(prefix));
        matched.or(self.otherwise.as_ref())
    }

    /// Prefixes that none of these documents has: often a name that is misspelt, so that documents
    /// get the grants of a shorter one.
    pub(crate) fn unused<'a>(&'a self, docs: impl Iterator<Item = &'a DocId>) -> Vec<&'a str> {
        let mut unused: BTreeSet<&str> = self.prefixes.keys().map(String::as_str).collect();
        for doc in docs {
            for prefix in prefixes_of(doc.as_str()) {
                unused.remove(prefix);
            }
        }
        unused.into_iter().collect()
    }
}

/// `a/b.md`, `a` and the empty prefix, longest first.
fn prefixes_of(doc: &str) -> impl Iterator<Item = &str> {
    let folders = doc.rmatch_indices('/').map(|(at, _)| at);
    std::iter::once(doc.len())
        .chain(folders)
        .chain(std::iter::once(0))
        .filter_map(|end| doc.get(..end))
}

fn read_map(text: &str) -> Result<BTreeMap<String, Acl>> {
    let lines: BTreeMap<String, Vec<String>> = toml::from_str(text).context(
        "it is no table of prefixes with their grants, such as \"handbook/pay\" = [\"hr\"]",
    )?;
    let mut prefixes = BTreeMap::new();
    for (written, grants) in lines {
        // As documents are named: in Unicode's form NFC, with `/` between names.
        let trimmed = written.strip_prefix("./").unwrap_or(&written);
        let prefix = match trimmed.trim_end_matches('/') {
            "" | "." => String::new(),
            name => DocId::new(name)
                .with_context(|| format!("the prefix {written:?}"))?
                .to_string(),
        };
        let odd = |part: &str| part.is_empty() || part == "." || part == "..";
        if !prefix.is_empty() && prefix.split('/').any(odd) {
            bail!("the prefix {written:?} can match no document; write it like a document's name");
        }
        let acl = Acl::new(&grants).with_context(|| format!("the grants of {written:?}"))?;
        let before = prefixes.insert(prefix, acl);
        ensure!(before.is_none(), "the prefix {written:?} is there twice");
    }
    Ok(prefixes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grants(map: &str, otherwise: Option<Acl>) -> Grants {
        Grants {
            otherwise,
            prefixes: read_map(map).unwrap(),
        }
    }

    fn names(grants: &Grants, doc: &str) -> Option<Vec<String>> {
        let acl = grants.of(&DocId::new(doc).unwrap())?;
        Some(acl.grants().map(ToString::to_string).collect())
    }

    #[test]
    fn the_longest_prefix_counts_alone() {
        let map = "\"hr/\" = [\"hr\"]\n\"hr/news\" = [\"public\"]\n\"hr/news/draft.md\" = []\n";
        let grants = grants(map, None);
        assert_eq!(names(&grants, "hr/pay.md"), Some(vec!["hr".into()]));
        assert_eq!(names(&grants, "hr/news/a.md"), Some(vec!["public".into()]));
        assert_eq!(names(&grants, "hr/news/draft.md"), Some(vec![]));
        assert_eq!(names(&grants, "hr-news/a.md"), None);
        assert_eq!(names(&grants, "other.md"), None);
    }

    #[test]
    fn what_has_no_prefix_gets_the_rest() {
        let grants_ = grants("hr = [\"hr\"]", Some(Acl::public()));
        assert_eq!(names(&grants_, "a.md"), Some(vec!["public".into()]));
        let grants_ = grants("\"\" = [\"all\"]\nhr = [\"hr\"]", Some(Acl::public()));
        assert_eq!(names(&grants_, "a.md"), Some(vec!["all".into()]));
        assert_eq!(names(&grants_, "hr/a.md"), Some(vec!["hr".into()]));
    }

    #[test]
    fn prefixes_without_documents_are_told() {
        let grants = grants("hr = [\"hr\"]\nhrr = [\"hr\"]", None);
        let doc = DocId::new("hr/a.md").unwrap();
        assert_eq!(grants.unused([&doc].into_iter()), ["hrr"]);
    }

    #[test]
    fn nonsense_is_refused() {
        for map in [
            "hr = \"hr\"",
            "hr = [\"\"]",
            "\"hr\" = [\"a\"]\n\"hr/\" = [\"b\"]",
            "\"a/../b\" = [\"a\"]",
            "\"/a\" = [\"a\"]",
            "[hr]\na = 1",
        ] {
            assert!(read_map(map).is_err(), "{map}");
        }
    }
}
