//! Whether a question needs hops: told from its names, what the graph knows of them, and what a
//! first search found.

use std::fmt::Debug;

use cornu_extract::{KeyWord, key_words, push_key_word};

use crate::graph::HopGraph;
use crate::recall::Asked;

/// So many of the best passages [`HopGate::decide`] looks at.
pub const GATE_PASSAGES: usize = 5;

/// What a first search found for a question: all that [`HopGate::decide`] looks at besides the
/// graph.
///
/// ```
/// let first = cornu_hop::FirstStage { question: "Who?", passages: &["Nobody."] };
/// assert_eq!(first.passages.len(), 1);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FirstStage<'a> {
    /// The question.
    pub question: &'a str,
    /// The best passages with their titles, the best first; only the first five are looked at.
    pub passages: &'a [&'a str],
}

/// Decides whether to walk: where the question has a name that leads somewhere.
///
/// A name leads somewhere when it is rare twice over: at most [`few`](Self::few) passages of the
/// graph have it as a name, and at most so many of the first five mention it. What the search then
/// found beside it is not about it, and what is about it names others. A name that most of the first
/// passages mention is their subject, and the search has gathered already what is said of it, in
/// however few of them an extractor took it for a name. A name that a few passages are about, by
/// their titles, leads there however often it is mentioned elsewhere. From a question without such a
/// name nothing is gained by a walk.
///
/// No score is looked at, so the decision is the same for any embedder that puts the same passages
/// first. METHODS.md says on which development questions the rule and its number were chosen, and
/// what else was tried.
///
/// ```
/// use cornu_core::Extraction;
/// use cornu_hop::{FirstStage, HopGate, HopGraph, Passage};
///
/// let texts = [
///     "Changed It\nChanged It is a song by Nicki Minaj and Lil Wayne.",
///     "Nicki Minaj\nNicki Minaj was born in Saint James.",
/// ];
/// let passages = (0..).zip(texts).map(|(id, text)| Passage::new(id, text, Extraction::default()));
/// let graph = HopGraph::build(&passages.collect::<Vec<_>>())?;
/// let first = FirstStage {
///     question: "Where was the performer of Changed It born?",
///     passages: &texts[..1],
/// };
/// let decision = HopGate::default().decide(&graph, &first);
/// assert!(decision.hops);
/// assert_eq!(decision.reasons(), ["Changed It leads on: 1 passage is about it"]);
/// let nothing = FirstStage { question: "what is this?", ..first };
/// assert!(!HopGate::default().decide(&graph, &nothing).hops);
/// # Ok::<(), cornu_hop::HopError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopGate {
    /// How many passages are few. 0 never walks; [`usize::MAX`] walks wherever the question names
    /// something that the graph knows. A single word that opens the question is a name only where
    /// several passages have it or a title is it, since its capital says nothing.
    pub few: usize,
}

impl Default for HopGate {
    fn default() -> Self {
        Self { few: 2 }
    }
}

impl HopGate {
    /// Decides. O(bytes of the question · log names + bytes of five passages · names of the
    /// question).
    #[must_use]
    pub fn decide<I: Ord + Clone + Debug>(
        &self,
        graph: &HopGraph<I>,
        first: &FirstStage<'_>,
    ) -> HopDecision {
        let passages = first.passages.iter().take(GATE_PASSAGES);
        let passages: Vec<Vec<KeyWord>> = passages.map(|text| key_words(text)).collect();
        let asked = Asked::read(graph, first.question);
        let names = asked.names.iter().filter_map(|found| {
            let name = graph.known(&found.key)?;
            let mentioning = passages.iter().filter(|words| mentions(words, &found.key));
            Some(HopSign {
                name: name.display.to_string(),
                having: name.passages.len(),
                about: name.titled.len(),
                mentioning: mentioning.count(),
                looked_at: passages.len(),
            })
        });
        let names: Vec<HopSign> = names.collect();
        HopDecision {
            hops: names.iter().any(|name| name.leads(self.few)),
            few: self.few,
            names,
        }
    }
}

/// Whether to walk, and why.
///
/// See [`HopGate`] for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopDecision {
    /// Whether some name leads somewhere.
    pub hops: bool,
    /// How many passages were few.
    pub few: usize,
    /// The names of the question that the graph knows, in the order of their keys.
    pub names: Vec<HopSign>,
}

impl HopDecision {
    /// What was seen of each name, those that lead somewhere first: `Oslo does not lead on: 31
    /// passages have it, 2 of the first 5 mention it`.
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        if self.names.is_empty() {
            return vec![
                "nothing in the question was taken for a name of a visible passage".to_owned(),
            ];
        }
        let mut names: Vec<&HopSign> = self.names.iter().collect();
        names.sort_by_key(|name| !name.leads(self.few));
        names.into_iter().map(|name| name.said(self.few)).collect()
    }
}

/// A name of the question, and where it stands.
///
/// ```
/// use cornu_hop::HopSign;
/// let name = "Alpha Capital".to_owned();
/// let rare = HopSign { name, having: 1, about: 0, mentioning: 1, looked_at: 5 };
/// assert!(rare.leads(2));
/// // A subject of the first passages, though an extractor read it in one alone.
/// assert!(!HopSign { mentioning: 5, ..rare.clone() }.leads(2));
/// assert!(HopSign { having: 40, about: 1, ..rare }.leads(2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopSign {
    /// As it is written in the visible passages.
    pub name: String,
    /// How many passages of the graph have it as a name.
    pub having: usize,
    /// How many of them are about it, by their titles.
    pub about: usize,
    /// How many of the first passages mention it.
    pub mentioning: usize,
    /// How many of them were looked at.
    pub looked_at: usize,
}

impl HopSign {
    /// Whether the name leads somewhere, where so many passages are few.
    #[must_use]
    pub fn leads(&self, few: usize) -> bool {
        self.is_title_of(few) || (self.having <= few && self.mentioning <= few)
    }

    fn is_title_of(&self, few: usize) -> bool {
        (1..=few).contains(&self.about)
    }

    fn said(&self, few: usize) -> String {
        let counted = |count: usize, singular: &str, plural: &str| match count {
            1 => format!("1 passage {singular} it"),
            _ => format!("{count} passages {plural} it"),
        };
        let name = &self.name;
        if self.is_title_of(few) {
            return format!(
                "{name} leads on: {}",
                counted(self.about, "is about", "are about")
            );
        }
        let leads = if self.leads(few) {
            "leads on"
        } else {
            "does not lead on"
        };
        let mentions = if self.mentioning == 1 {
            "mentions"
        } else {
            "mention"
        };
        format!(
            "{name} {leads}: {}, {} of the first {} {mentions} it",
            counted(self.having, "has", "have"),
            self.mentioning,
            self.looked_at
        )
    }
}

/// Whether some run of the words has the key.
fn mentions(words: &[KeyWord], key: &str) -> bool {
    let mut run = String::with_capacity(key.len());
    (0..words.len()).any(|at| {
        run.clear();
        let rest = words.get(at..).unwrap_or_default();
        let grown = rest.iter().map(|word| {
            push_key_word(&mut run, &word.key);
            (key.starts_with(&run), run.len() == key.len())
        });
        let mut within = grown.take_while(|(within, _)| *within);
        within.any(|(_, whole)| whole)
    })
}
