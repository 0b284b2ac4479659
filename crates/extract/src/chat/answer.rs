//! The form of an answer: asked for by a schema, checked when it comes.

use cornu_core::{Extraction, Proposition, Triple};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Answer {
    entities: Vec<String>,
    triples: Vec<Triple>,
    propositions: Vec<Proposition>,
}

/// What the request holds the model to.
pub(super) fn schema() -> Value {
    let text = json!({ "type": "string" });
    let texts = json!({ "type": "array", "items": text });
    let object = |fields: Value, required: Value| {
        json!({
            "type": "object",
            "properties": fields,
            "required": required,
            "additionalProperties": false,
        })
    };
    let triple = object(
        json!({ "subject": text, "predicate": text, "object": text }),
        json!(["subject", "predicate", "object"]),
    );
    let proposition = object(
        json!({ "text": text, "entities": texts }),
        json!(["text", "entities"]),
    );
    let schema = object(
        json!({
            "entities": texts,
            "triples": { "type": "array", "items": triple },
            "propositions": { "type": "array", "items": proposition },
        }),
        json!(["entities", "triples", "propositions"]),
    );
    json!({
        "type": "json_schema",
        "json_schema": { "name": "extraction", "strict": true, "schema": schema },
    })
}

/// Checks an answer, and says in words what is wrong with it. What stands around the JSON object,
/// such as a code fence, is passed over; repeats count once.
pub(super) fn parse(answer: &str) -> Result<Extraction, String> {
    let object = answer
        .find('{')
        .zip(answer.rfind('}'))
        .and_then(|(from, to)| answer.get(from..=to))
        .ok_or("there is no JSON object")?;
    let answer: Answer = serde_json::from_str(object).map_err(|error| error.to_string())?;
    let mut found = Extraction::default();
    for entity in answer.entities {
        check(&entity, "an entity")?;
        if !found.entities.contains(&entity) {
            found.entities.push(entity);
        }
    }
    for triple in answer.triples {
        check(&triple.subject, "a triple's subject")?;
        check(&triple.predicate, "a triple's predicate")?;
        check(&triple.object, "a triple's object")?;
        if !found.triples.contains(&triple) {
            found.triples.push(triple);
        }
    }
    for proposition in answer.propositions {
        check(&proposition.text, "a proposition's text")?;
        for entity in &proposition.entities {
            check(entity, "a proposition's entity")?;
        }
        if !found.propositions.contains(&proposition) {
            found.propositions.push(proposition);
        }
    }
    Ok(found)
}

fn check(text: &str, what: &str) -> Result<(), String> {
    match text.chars().any(char::is_alphanumeric) {
        true => Ok(()),
        false => Err(format!("{what} is empty: {text:?}")),
    }
}
