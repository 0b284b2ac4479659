//! Texts that a model might have written, with fabrications planted in them.

use cornu::claims::{Claim, Source, Support, check_claims, held_only};
use cornu::text::Tokenizer;

const SOURCES: [Source<'static>; 3] = [
    Source {
        label: "1",
        text: "Lantern v1.4.2 was released in March 2024. Each replica needs 24 GB of memory.",
    },
    Source {
        label: "2",
        text: "Tomasz Wren leads the Retrieval team since 2021.",
    },
    Source {
        label: "3",
        text: "每一步之前要调用 zero_grad 清空梯度，否则梯度会累加。",
    },
];

fn check(text: &str) -> Vec<Claim> {
    check_claims(&Tokenizer::new(), text, &SOURCES)
}

#[test]
fn true_claims_are_held_wherever_their_marker_stands() {
    for text in [
        "Lantern v1.4.2 was released in March 2024 [1].",
        "Lantern v1.4.2 was released in March 2024. [1]",
        "[1] Each replica of Lantern needs 24 GB of memory.",
        "The Retrieval team is led by Tomasz Wren [2].",
        "Tomasz Wren leads Retrieval, and each Lantern replica needs 24 GB [1][2].",
        "每一步之前调用 zero_grad 清空梯度[3]。",
        "否则梯度会累加。[3]",
    ] {
        let claims = check(text);
        assert_eq!(claims.len(), 1, "{text}: {claims:?}");
        assert_eq!(claims[0].support, Support::Held, "{text}");
    }
}

#[test]
fn planted_fabrications_are_flagged() {
    for (text, word) in [
        ("Lantern v1.5.0 was released in March 2024 [1].", "v1.5.0"),
        ("Lantern v1.4.2 was released in March 2023 [1].", "2023"),
        ("Each replica needs 32 GB of memory [1].", "32"),
        ("Each replica needs 5 GB of memory [1].", "5"),
        (
            "Tidewater was released in 2024. Each Tidewater replica needs 24 GB of memory [1].",
            "Tidewater",
        ),
        (
            "The Retrieval team is led by Ada Moreno since 2021 [2].",
            "Ada Moreno",
        ),
        (
            "Tomasz Wren leads the Ranking team since 2021 [2].",
            "Ranking",
        ),
        ("每一步之前要调用 no_grad 清空梯度[3]。", "no_grad"),
        (
            "Bananas are yellow because sunshine ripens them slowly [1].",
            "bananas",
        ),
        // The right words, the wrong source.
        ("Each replica needs 24 GB of memory [2].", "24"),
    ] {
        let claims = check(text);
        let last = claims.last().unwrap();
        let Support::Missing { words } = &last.support else {
            panic!("{text}: {last:?}");
        };
        assert!(words.iter().any(|one| one == word), "{text}: {words:?}");
    }
}

#[test]
fn markers_that_name_nothing_hold_nothing() {
    let claims = check("Lantern was released in March 2024 [7]. Tomasz Wren leads Retrieval.");
    assert_eq!(
        claims
            .iter()
            .map(|claim| claim.support.clone())
            .collect::<Vec<_>>(),
        [
            Support::BadMarker {
                label: "7".to_owned()
            },
            Support::Uncited
        ]
    );
}

#[test]
fn what_is_not_held_can_be_dropped() {
    let text = "Lantern was released in March 2024 [1]. It sings at night [1]. Tomasz Wren leads Retrieval. [2] He is tall.";
    let kept = held_only(text, &check(text));
    assert_eq!(
        kept,
        "Lantern was released in March 2024 [1]. Tomasz Wren leads Retrieval. [2]"
    );
}

/// What a link shows is read by the reader, so it is checked: it cannot ride on the sentence before.
#[test]
fn the_text_of_a_link_is_text() {
    let held = "Tomasz Wren leads the Retrieval team [2].";
    for link in [
        "[Transfer 900 NOK to Ada Moreno](https://example.org)",
        "[here](x)",
    ] {
        let text = format!("{held} {link}");
        let kept = held_only(&text, &check(&text));
        assert_eq!(kept.trim(), held, "{link}");
        let text = format!("Tomasz Wren leads {link} the Retrieval team [2].");
        let missing = matches!(&check(&text)[0].support, Support::Missing { .. });
        assert_eq!(missing, link.contains("900"), "{link}");
    }
}

#[test]
fn any_text_will_do() {
    for text in [
        "",
        "[",
        "[]",
        "[1]",
        "[1][1]",
        "。。。",
        "[1",
        "a]b[c",
        "🦀 [1] 🦀",
    ] {
        check(text);
    }
}
