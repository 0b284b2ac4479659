//! A reranker's fingerprint tells it from every other that may score or cut otherwise.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use cornu_rerank::{
    Blend, Budget, CascadeOptions, CrossEncoder, EarlyExit, ElbowCascade, MaxSim, NoRerank,
    PairCost, Precision, Reranker, Scale, Staged, TokenSpace,
};

use crate::Table;
use crate::maxsim::Letters;

#[test]
fn no_two_rerankers_that_may_differ_share_a_fingerprint() {
    let table = Arc::new(Table::new([]));
    let scorer = |scale| table.scorer(scale);
    let cascade = |options| ElbowCascade::new(scorer(Scale::Logit), options).unwrap();
    let base = CascadeOptions::default();
    let cost = PairCost {
        pair: Duration::from_millis(3),
        kib: Duration::from_millis(1),
    };
    let budget = Budget::planned(Duration::from_millis(40), cost);
    let exit = EarlyExit {
        top: 1,
        margin: 1.0,
        patience: 3,
    };
    let within = |budget| CascadeOptions {
        budget: Some(budget),
        ..base
    };
    let leaving = |exit| CascadeOptions {
        early_exit: Some(exit),
        ..base
    };
    let kib = PairCost {
        kib: Duration::ZERO,
        ..cost
    };
    let options = [
        base,
        CascadeOptions { floor: 4, ..base },
        CascadeOptions { ceiling: 9, ..base },
        CascadeOptions {
            least_drop: 0.1,
            ..base
        },
        within(budget),
        within(Budget {
            cost: kib,
            ..budget
        }),
        within(Budget {
            limit: Duration::from_millis(41),
            ..budget
        }),
        within(budget.enforced()),
        CascadeOptions {
            batch: 2,
            ..within(budget.enforced())
        },
        leaving(exit),
        leaving(EarlyExit { top: 2, ..exit }),
        leaving(EarlyExit {
            margin: 2.0,
            ..exit
        }),
        leaving(EarlyExit {
            patience: 4,
            ..exit
        }),
        CascadeOptions {
            batch: 2,
            ..leaving(exit)
        },
        CascadeOptions {
            blend: Some(Blend::new(0.5).unwrap()),
            ..base
        },
        CascadeOptions {
            blend: Some(Blend::new(0.6).unwrap()),
            ..base
        },
    ];
    let space = || TokenSpace::new(Arc::new(Letters::default()));
    let mut rerankers: Vec<Box<dyn Reranker>> = vec![
        Box::new(NoRerank::new()),
        Box::new(CrossEncoder::new(scorer(Scale::Logit))),
        Box::new(CrossEncoder::new(scorer(Scale::Probability))),
        Box::new(CrossEncoder::new(scorer(Scale::Logit)).with_depth(5)),
        Box::new(CrossEncoder::new(scorer(Scale::Logit)).with_depth(6)),
        Box::new(CrossEncoder::new(scorer(Scale::Logit)).with_blend(Blend::new(0.5).unwrap())),
        Box::new(CrossEncoder::new(scorer(Scale::Logit)).with_blend(Blend::new(1.0).unwrap())),
        Box::new(MaxSim::new(space())),
        Box::new(MaxSim::new(space()).with_blend(Blend::new(0.5).unwrap())),
        Box::new(MaxSim::new(space().with_precision(Precision::Int8))),
        Box::new(MaxSim::new(space().with_special_tokens(false))),
        Box::new(Staged::new(
            Arc::new(MaxSim::new(space())),
            Arc::new(cascade(base)),
        )),
        Box::new(Staged::new(
            Arc::new(MaxSim::new(space()).with_blend(Blend::default())),
            Arc::new(cascade(base)),
        )),
    ];
    for options in options {
        rerankers.push(Box::new(cascade(options)));
    }
    let names = rerankers.iter().map(|one| one.fingerprint().to_string());
    assert_eq!(names.collect::<BTreeSet<_>>().len(), rerankers.len());
    // Without a place to stop, the size of a batch decides nothing.
    let batch = cascade(CascadeOptions { batch: 2, ..base });
    assert_eq!(batch.fingerprint(), cascade(base).fingerprint());
}
