//! What an asker may not see is not among the candidates, and whatever is asked in between leaves
//! no trace in a reranker.

use std::sync::Arc;

use cornu_rerank::{
    Budget, CascadeOptions, CrossEncoder, EarlyExit, ElbowCascade, ManualClock, MaxSim, NoRerank,
    PairCost, Reranker, Scale, Staged, TokenSpace,
};
use proptest::prelude::*;
use std::time::Duration;

use crate::maxsim::Letters;
use crate::{Table, candidates};

fn rerankers(table: &Arc<Table>, clock: &Arc<ManualClock>) -> Vec<Box<dyn Reranker>> {
    let cost = PairCost {
        pair: Duration::from_millis(3),
        kib: Duration::ZERO,
    };
    let options = CascadeOptions {
        budget: Some(Budget::planned(Duration::from_millis(40), cost).enforced()),
        early_exit: Some(EarlyExit {
            top: 1,
            margin: 1.0,
            patience: 3,
        }),
        ..CascadeOptions::default()
    };
    let cascade = |options| ElbowCascade::new(table.scorer(Scale::Logit), options).unwrap();
    vec![
        Box::new(CrossEncoder::new(table.scorer(Scale::Logit))),
        Box::new(cascade(CascadeOptions::default())),
        Box::new(cascade(options).with_clock(clock.clone())),
        Box::new(MaxSim::new(TokenSpace::new(Arc::new(Letters::default())))),
        Box::new(Staged::new(
            Arc::new(MaxSim::new(TokenSpace::new(Arc::new(Letters::default())))),
            Arc::new(cascade(CascadeOptions::default())),
        )),
        Box::new(NoRerank::new()),
    ]
}

proptest! {
    /// A reranker that has seen other lists before gives what a new one gives.
    #[test]
    fn earlier_calls_have_no_part_in_later_ones(
        hidden in prop::collection::vec(0.0_f64..1.0, 0..30),
        seen in prop::collection::vec(0.0_f64..1.0, 0..30),
        scores in prop::collection::vec(-3.0_f32..3.0, 30),
    ) {
        let texts: Vec<String> = (0..30).map(|at| at.to_string()).collect();
        let clock = Arc::new(ManualClock::default());
        let cost = Duration::from_millis(3);
        let new = || Arc::new(Table::new(scores.clone()).costing(cost, &clock));
        for (used, fresh) in rerankers(&new(), &clock).iter().zip(rerankers(&new(), &clock)) {
            used.rerank("hidden", &candidates(&texts, &hidden)).unwrap();
            let found = candidates(&texts, &seen);
            prop_assert_eq!(used.rerank("q", &found).unwrap(), fresh.rerank("q", &found).unwrap());
        }
    }
}
