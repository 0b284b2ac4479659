//! Questions whose answer is nearly there: the same thing about another name, number or code.

use cornu::{Acl, Outcome, Principal, Reason};

use crate::world::{Home, document};

const CORPUS: [(&str, &str); 6] = [
    (
        "lantern.md",
        "# Lantern\n\nLantern v1.4.2 was released in 2024. Each replica of Lantern needs 24 GB of memory. Error LN-601 means that the shard is read-only. The Retrieval team is led by Tomasz Wren.\n",
    ),
    (
        "heron.md",
        "# Heron\n\nThe cluster Heron has 64 GPUs of type H200. In 2023 it had 16 outages. Heron runs PyTorch 2.5 with NCCL.\n",
    ),
    (
        "contracts.md",
        "# 合同\n\n合同 CT-2024-0173 的总价是 480 万元，由北辰科技签署。变更单 CO-03 推迟了交付日期。\n",
    ),
    (
        "optim.md",
        "# 优化器\n\n`zero_grad` 清空梯度。`AdamW` 的学习率是 3e-4，批大小是 512。`no_grad` 不建图。\n",
    ),
    (
        "travel.md",
        "# Travel\n\nGrade P7 may spend 1800 NOK a night in Oslo. Grade P8 may spend 2100 NOK. The policy 《差旅制度》 is from 2022.\n",
    ),
    (
        "incident.md",
        "# INC-2025-0317\n\nINC-2025-0317 was caused by a full disk on node-12. It lasted 47 minutes. Ada Moreno wrote the report.\n",
    ),
];

const ANSWERED: [&str; 12] = [
    "What does error LN-601 mean?",
    "Who leads the Retrieval team?",
    "How much memory does a Lantern replica need?",
    "How many GPUs does Heron have?",
    "Which version of PyTorch does Heron run?",
    "合同 CT-2024-0173 的总价是多少？",
    "变更单 CO-03 改了什么？",
    "`zero_grad` 做什么？",
    "AdamW 的学习率是多少？",
    "What may P7 spend in Oslo?",
    "《差旅制度》是哪一年的？",
    "What caused INC-2025-0317?",
];

const NEAR_MISSES: [&str; 36] = [
    "What does error LN-602 mean?",
    "What does error LM-601 mean?",
    "Who leads the Ranking team of Lantern?",
    "Is the Retrieval team led by Tomasz Wolf?",
    "How much memory does a Tidewater replica need?",
    "When was Lantern v1.6.0 released?",
    "What was released by Lantern in 2021?",
    "How many GPUs does Egret have?",
    "How many outages did Heron have in 2022?",
    "How many outages did Heron have in 1999?",
    "Does Heron run TensorFlow?",
    "Does Heron use JAX?",
    "Has Heron any GPUs of type A100?",
    "Which version of PyTorch does Osprey run?",
    "合同 CT-2024-0181 的总价是多少？",
    "合同 CT-2023-0173 的总价是多少？",
    "CT-2024-0173 的变更单 CO-04 改了什么？",
    "合同 CT-2024-0173 在 2019 年的总价是多少？",
    "`set_grad` 做什么？",
    "`zero_grads` 做什么？",
    "SGD 的学习率是多少？",
    "Adafactor 的学习率是多少？",
    "AdamW 的学习率是 1e-5 吗？",
    "批大小是 1024 吗？",
    "What may P9 spend in Oslo?",
    "What may P10 spend in Oslo?",
    "What may P7 spend in Lima?",
    "What may P8 spend a night in Canberra?",
    "《采购制度》是哪一年的？",
    "“采购流程”是哪一年的？",
    "What caused INC-2024-1105?",
    "What caused INC-2025-0402?",
    "Was the disk on node-13 full?",
    "Did INC-2025-0317 last 95 minutes?",
    "Did Grace Moreno write the report on INC-2025-0317?",
    "What did Ada Lovelace write on INC-2025-0317?",
];

fn home() -> Home {
    let documents = CORPUS.map(|(name, source)| document(name, source, Acl::public()));
    Home::holding(&documents)
}

#[test]
fn near_misses_are_refused_by_what_they_name() {
    let home = home();
    for question in NEAR_MISSES {
        // With a threshold that lets everything through: the names alone decide.
        let response = home
            .index
            .answer(&Principal::public(), question, &home.threshold(-1.0))
            .unwrap();
        let Outcome::Refused(refusal) = &response.outcome else {
            panic!("{question}: {}", response.outcome);
        };
        let Reason::AnotherEntity { missing } = &refusal.reason else {
            panic!("{question}: {refusal}");
        };
        assert!(
            missing.iter().all(|name| question.contains(name)),
            "{question}: {refusal}"
        );
    }
}

#[test]
fn their_neighbours_are_answered() {
    let home = home();
    for question in ANSWERED {
        let response = home
            .index
            .answer(&Principal::public(), question, &home.threshold(-1.0))
            .unwrap();
        assert!(
            response.outcome.answer().is_some(),
            "{question}: {}",
            response.outcome
        );
    }
}
