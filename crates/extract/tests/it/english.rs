//! What the English rules read.

use cornu_extract::RuleExtractor;

fn triples(text: &str) -> Vec<(String, String, String)> {
    let found = RuleExtractor::new().read(text);
    let triples = found.triples.into_iter();
    triples
        .map(|t| (t.subject, t.predicate, t.object))
        .collect()
}

fn has(text: &str, subject: &str, predicate: &str, object: &str) {
    let found = triples(text);
    let wanted = (subject.to_owned(), predicate.to_owned(), object.to_owned());
    assert!(found.contains(&wanted), "{wanted:?} is not in {found:#?}");
}

fn names(text: &str) -> Vec<String> {
    RuleExtractor::new().read(text).entities
}

const LOTHAIR: &str = "Lothair II\nLothair II (835 –) was the king of Lotharingia. He was the second \
    son of Emperor Lothair I and Ermengarde of Tours. He married Teutberga, daughter of Boso the Elder.";

#[test]
fn the_words_before_a_name_are_the_predicate() {
    has(LOTHAIR, "Lothair II", "was the king of", "Lotharingia");
}

#[test]
fn a_list_shares_its_predicate() {
    has(
        LOTHAIR,
        "Lothair II",
        "was the second son of",
        "Emperor Lothair I",
    );
    has(
        LOTHAIR,
        "Lothair II",
        "was the second son of",
        "Ermengarde of Tours",
    );
}

#[test]
fn a_pronoun_stands_for_the_title() {
    has(LOTHAIR, "Lothair II", "married", "Teutberga");
    let without = "He married Teutberga.";
    assert_eq!(triples(without), []); // nobody to say it of
}

#[test]
fn an_apposition_speaks_of_the_name_before_it() {
    has(LOTHAIR, "Teutberga", "daughter of", "Boso the Elder");
}

#[test]
fn a_part_of_the_title_stands_for_it() {
    let text = "Andy Summers\nSummers was a member of the Police.";
    has(text, "Andy Summers", "was a member of", "Police");
}

#[test]
fn clauses_keep_their_own_verbs() {
    let text = "Madame\nMadame is a 1916 film produced by Oliver Morosco and directed by Frank Lloyd, \
                starring Anna Held.";
    has(text, "Madame", "directed by", "Frank Lloyd");
    has(text, "Madame", "starring", "Anna Held");
    has(text, "Madame", "is", "1916 film");
}

#[test]
fn names_are_capitalised_phrases_with_small_words_inside() {
    let text = "The University of Copenhagen met Sacha Baron Cohen, O'Brien & Sons and Brown, Jr. in \
                Pas de Calais.";
    let wanted = [
        "University of Copenhagen",
        "Sacha Baron Cohen",
        "O'Brien & Sons",
        "Brown, Jr.",
        "Pas de Calais",
    ];
    assert_eq!(names(text), wanted);
}

#[test]
fn quoted_titles_dates_and_amounts_are_names() {
    let text = "In 1989 \"What is God?\" sold 3.5 million copies from January 1960 to 11 November 875, \
                then won 20 members at the 1920 Summer Olympics.";
    let wanted = [
        "1989",
        "What is God?",
        "3.5 million",
        "January 1960",
        "11 November 875",
        "20 members",
        "1920 Summer Olympics",
    ];
    assert_eq!(names(text), wanted);
}

#[test]
fn a_capital_at_the_start_is_no_name() {
    assert_eq!(
        names("However, it rained. Written by nobody. The end."),
        Vec::<String>::new()
    );
}

#[test]
fn a_possessive_is_not_part_of_the_name() {
    assert_eq!(names("We met Wallop's father."), ["Wallop"]);
}
