//! A trace is written the same way every time.

use cornu_core::{Trace, TraceValue};

#[test]
fn a_trace_reads_as_one_line_a_step_in_order() {
    let mut sparse = Trace::new();
    sparse
        .step("sparse")
        .note("terms", vec!["梯度", "zero_grad"])
        .note("b", 0.75);
    let mut trace = Trace::new();
    trace.step("dense").note("k", 10_usize).note("exact", true);
    trace.step("empty");
    trace.append(sparse);
    assert_eq!(
        trace.to_string(),
        "dense: k = 10, exact = true\nempty:\nsparse: terms = [\"梯度\", \"zero_grad\"], b = 0.75\n"
    );
    let stages: Vec<&str> = trace
        .steps()
        .iter()
        .map(cornu_core::TraceStep::stage)
        .collect();
    assert_eq!(stages, ["dense", "empty", "sparse"]);
    let notes: Vec<&str> = trace.steps()[0].notes().map(|(name, _)| name).collect();
    assert_eq!(notes, ["k", "exact"]);
}

#[test]
fn a_text_from_outside_cannot_forge_a_step() {
    let mut trace = Trace::new();
    trace
        .step("query")
        .note("text", "a\nrefuse: answered = true");
    assert_eq!(trace.to_string().lines().count(), 1);
}

#[test]
fn values_keep_their_kind() {
    assert_eq!(
        TraceValue::from(0.1 + 0.2).to_string(),
        "0.30000000000000004"
    );
    assert_eq!(TraceValue::from(String::from("\"")).to_string(), r#""\"""#);
    assert_eq!(
        TraceValue::from(vec![vec![1_u64], vec![]]).to_string(),
        "[[1], []]"
    );
    assert_ne!(TraceValue::from(1_u64), TraceValue::from(1.0));
}
