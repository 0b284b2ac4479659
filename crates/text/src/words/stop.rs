//! Words that stand in nearly every text.

/// Which words a query leaves out, as long as others remain.
///
/// ```
/// use cornu_text::StopWords;
/// assert!(StopWords::Common.contains("the") && StopWords::Common.contains("的"));
/// assert!(!StopWords::None.contains("the"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopWords {
    /// None: the weights of a ranking already make common words light.
    #[default]
    None,
    /// Short lists of English and Chinese function words.
    Common,
}

impl StopWords {
    /// Whether the folded word is left out.
    #[must_use]
    pub fn contains(self, word: &str) -> bool {
        self == Self::Common && (ENGLISH.contains(&word) || CHINESE.contains(&word))
    }
}

const ENGLISH: [&str; 62] = [
    "a", "about", "am", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "could",
    "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "his", "how", "i", "if",
    "in", "into", "is", "it", "its", "me", "my", "not", "of", "on", "or", "our", "she", "so",
    "that", "the", "their", "them", "there", "these", "they", "this", "those", "to", "was", "we",
    "were", "what", "which", "who", "will", "with", "you", "your",
];

const CHINESE: [&str; 50] = [
    "的", "了", "是", "在", "和", "与", "及", "或", "也", "都", "就", "而", "着", "过", "地", "得",
    "之", "其", "这", "那", "这个", "那个", "这些", "那些", "我", "你", "他", "她", "它", "我们",
    "你们", "他们", "我的", "你的", "他的", "吗", "呢", "吧", "啊", "不", "不是", "把", "被", "对",
    "从", "什么", "怎么", "如何", "一个", "哪些",
];
