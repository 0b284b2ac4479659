//! What the guard of the cache's second level tells apart though tokenizers drop it.

use cornu::SameQuestion;
use cornu::pool::SimilarityGuard;
use cornu::text::{StopWords, Tokenizer};

/// Pairs that ask for different things.
const OTHERS: &[(&str, &str)] = &[
    // the sign of a number
    ("What happens at -5 degrees?", "What happens at 5 degrees?"),
    ("Is the offset +8 hours?", "Is the offset -8 hours?"),
    ("温度为 -5 度时怎么办？", "温度为 5 度时怎么办？"),
    ("温度为－5度时怎么办？", "温度为5度时怎么办？"),
    ("Does it round −0.5 up?", "Does it round 0.5 up?"),
    // comparisons
    ("What if x > 5?", "What if x < 5?"),
    ("What if x >= 5?", "What if x > 5?"),
    ("When is a == b?", "When is a != b?"),
    ("库存 ≥ 10 时如何处理？", "库存 ≤ 10 时如何处理？"),
    ("库存>10时如何处理？", "库存<10时如何处理？"),
    ("What does a + b give?", "What does a - b give?"),
    ("What does a / b give?", "What does a * b give?"),
    ("What is x^2?", "What is x*2?"),
    // currencies, units, marks
    ("Is the fee $50?", "Is the fee €50?"),
    ("费用是 ¥50 吗？", "费用是 $50 吗？"),
    ("Does it cost 50%?", "Does it cost 50?"),
    ("Does it cost 5‰?", "Does it cost 5%?"),
    ("Is 5°C allowed?", "Is 5°F allowed?"),
    ("Is it 10:30?", "Is it 1030?"),
    ("How many fit in 1/2 of it?", "How many fit in 2/1 of it?"),
    ("How long is 1.5 of it?", "How long is 15 of it?"),
    ("What is ~A?", "What is A?"),
    ("What does !ready mean?", "What does ready mean?"),
    ("What does && do?", "What does || do?"),
    ("What does -> do?", "What does => do?"),
    ("What is C?", "What is C++?"),
    ("What is C#?", "What is C++?"),
    ("Which tag is @a?", "Which tag is #a?"),
    ("What is ½ of it?", "What is ¼ of it?"),
    ("What is step ①?", "What is step ②?"),
    ("What is item Ⅳ?", "What is item Ⅵ?"),
    ("Is 2^10 enough?", "Is 210 enough?"),
    ("Is 10² enough?", "Is 10³ enough?"),
    // written numbers, two words apart
    ("What is the sixth step?", "Which is the seventh step?"),
    (
        "What costs twenty euros?",
        "Which thing costs thirty euros?",
    ),
    ("What can be done zero times?", "Which can be done once?"),
    (
        "Who signed the eighth annex?",
        "Who did sign the ninth annex?",
    ),
    (
        "What is due in a dozen days?",
        "Which is due in fifteen days?",
    ),
    ("壹佰元的罚款怎么算？", "贰佰元的罚款如何计算？"),
    ("第廿条说什么？", "第卅条讲什么？"),
    // relative times
    (
        "What was last year's budget?",
        "What is this year's budget?",
    ),
    ("What was the budget yesterday?", "What is today's budget?"),
    (
        "What is planned for tomorrow?",
        "Which was planned for yesterday?",
    ),
    ("去年的预算是多少？", "今年预算有多少？"),
    ("上个月谁值班？", "下个月值班的是谁？"),
    ("上半年的收入是多少？", "下半年收入有多少？"),
    ("昨天发布了什么？", "今天发布的是什么？"),
    ("上周的会议在哪里开？", "本周会议开在哪里？"),
    // negation by prefix or by verb
    ("When is a token valid?", "What makes a token invalid?"),
    (
        "Which users are able to log in?",
        "Which of the users are unable to log in?",
    ),
    ("What is legal here?", "What would be illegal here?"),
    ("Which steps are necessary?", "What steps are unnecessary?"),
    (
        "What is possible with it?",
        "What is impossible to do with it?",
    ),
    ("Who agreed to it?", "Who had disagreed to it?"),
    (
        "What happens if it works?",
        "What happens if it doesn't work?",
    ),
    (
        "Why is the gradient cleared?",
        "Why isn't the gradient cleared?",
    ),
    ("Why can the file be read?", "Why can’t the file be read?"),
    ("Why did it stop?", "Why didnt it stop?"),
    ("Who refused to sign?", "Who signed?"),
    ("合法的用途有哪些？", "非法用途有什么？"),
    ("需要审批的情形有哪些？", "免审批的情形是什么？"),
    ("哪些人可以参加？", "哪些人禁止参加？"),
    // quantifiers and modals
    ("Must all users log in?", "Must some users log in?"),
    ("Is it always needed?", "Is it sometimes needed?"),
    ("Which users may delete it?", "Which users must delete it?"),
    ("Can I only read it?", "Can I read it?"),
    ("Is at least 5 needed?", "Is at most 5 needed?"),
    ("Is up to 5 allowed?", "Is over 5 allowed?"),
    ("What is before 5 pm?", "What is before 5 am?"),
    ("How is it turned on?", "How is it turned off?"),
    ("Does it scale up?", "Does it scale down?"),
    ("What goes in?", "What goes out?"),
    ("How do I go from A to B?", "How do I go from B to A?"),
    ("全部员工都要参加吗？", "部分员工要参加吗？"),
    ("甲公司起诉乙公司了吗？", "乙公司起诉甲公司了吗？"),
    ("从北京到上海多少钱？", "从上海到北京多少钱？"),
];

/// Pairs that ask the same.
const SAME: &[(&str, &str)] = &[
    (
        "How are gradients cleared?",
        "How do I clear the gradients?",
    ),
    (
        "What does CT-2024-0181 say?",
        "What is said in CT-2024-0181?",
    ),
    ("When was 2024-05-01?", "When was it, 2024-05-01?"),
    (
        "How do I set a/b testing up?",
        "How can I set up a/b testing?",
    ),
    (
        "What did the e-mail of last week say?",
        "What was said in the last week's e-mail?",
    ),
    (
        "Is -5 degrees allowed there?",
        "Are −5 degrees allowed there, too?",
    ),
    ("去年的预算是多少？", "去年预算有多少？"),
    ("上个月谁值班？", "上月值班的是谁？"),
];

#[test]
fn signs_small_words_and_moments_count() {
    let common = Tokenizer::builder().stop_words(StopWords::Common).build();
    for tokenizer in [Tokenizer::new(), common] {
        let guard = SameQuestion::new(tokenizer);
        let agree = |(a, b): &&(&str, &str)| guard.agree(a, b) || guard.agree(b, a);
        let through: Vec<_> = OTHERS.iter().filter(agree).collect();
        assert!(through.is_empty(), "{through:#?}");
        let refused: Vec<_> = SAME.iter().filter(|pair| !agree(pair)).collect();
        assert!(refused.is_empty(), "{refused:#?}");
    }
}
