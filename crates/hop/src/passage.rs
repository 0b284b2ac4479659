//! What is known of one passage.

use cornu_core::Extraction;
use cornu_extract::split_title;

/// A passage with what was read from it: the facts that a memory keeps.
///
/// ```
/// use cornu_core::Extraction;
/// use cornu_hop::Passage;
/// let passage = Passage::new(7, "# Rome\n\nRome is in Italy.", Extraction::default());
/// assert_eq!(passage.title.as_deref(), Some("Rome"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage<I> {
    /// Its id, which stays when other passages come and go.
    pub id: I,
    /// What it is about, where it says so.
    pub title: Option<String>,
    /// Its text, without the title.
    pub text: String,
    /// Names, triples and propositions read from it.
    pub extraction: Extraction,
}

impl<I> Passage<I> {
    /// A passage whose first line may be its title, as [`split_title`] decides.
    #[must_use]
    pub fn new(id: I, text: &str, extraction: Extraction) -> Self {
        let (title, body) = split_title(text);
        Self {
            id,
            title: title.map(str::to_owned),
            text: body.to_owned(),
            extraction,
        }
    }
}
