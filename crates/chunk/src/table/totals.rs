//! Rows that sum up others, by their names.

use std::cmp::Ordering;

/// What a row is besides one more row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Total {
    /// The sum of others, or some other word about all of them.
    Sum,
    /// The mean of others.
    Mean,
    /// Perhaps a sum or a part of another row, perhaps a row as any: 总部, 其中：服务, "Total assets".
    Doubtful,
}

impl Total {
    /// By a row's folded name.
    pub(super) fn of(name: &str) -> Option<Self> {
        const MEAN: [&str; 2] = ["average", "mean"];
        const SUM: [&str; 6] = ["total", "totals", "subtotal", "subtotals", "sum", "overall"];
        const MEAN_WHOLE: [&str; 3] = ["平均", "平均值", "均值"];
        const SUM_WHOLE: [&str; 7] = ["总和", "总数", "总量", "全部", "所有", "共", "合共"];
        const SUM_BEGIN: [&str; 9] = [
            "合计",
            "总计",
            "小计",
            "共计",
            "累计",
            "汇总",
            "sum of ",
            "total of ",
            "total for ",
        ];
        const DOUBTFUL: [&str; 13] = [
            "总",
            "全",
            "平均",
            "其中",
            "∑",
            "σ",
            "of which",
            "thereof",
            "标准差",
            "方差",
            "中位数",
            "极差",
            "std",
        ];
        let plain = name.split(['(', ':']).next().unwrap_or_default().trim();
        let words = plain.split(|c: char| !c.is_alphanumeric());
        let words: Vec<&str> = words
            .filter(|word| !word.chars().all(|c| c.is_ascii_digit()))
            .collect();
        let last = words.last().copied().unwrap_or_default();
        let first = words.first().copied().unwrap_or_default();
        if MEAN.contains(&last) || MEAN_WHOLE.contains(&plain) {
            return Some(Self::Mean);
        }
        let whole = SUM.contains(&last) || SUM_WHOLE.contains(&plain);
        if whole || SUM_BEGIN.iter().any(|begin| name.starts_with(begin)) {
            return Some(Self::Sum);
        }
        let doubtful = SUM.contains(&first)
            || MEAN.contains(&first)
            || ["all", "grand", "median", "stdev", "stddev", "variance"].contains(&first)
            || plain == "standard deviation"
            || DOUBTFUL.iter().any(|begin| name.starts_with(begin));
        doubtful.then_some(Self::Doubtful)
    }

    /// Whether a row's folded name says that it is the largest (`Greater`) or the smallest number of
    /// others. Rows may have such names without being that: a plan "Max".
    pub(super) fn extreme(name: &str) -> Option<Ordering> {
        const LARGEST: [&str; 6] = ["max", "maximum", "largest", "highest", "最大", "最高"];
        const SMALLEST: [&str; 6] = ["min", "minimum", "smallest", "lowest", "最小", "最低"];
        let plain = name.split(['(', ':']).next().unwrap_or_default().trim();
        let plain = plain.strip_suffix('值').unwrap_or(plain);
        let plain = plain.trim_end_matches(['.', ' ']);
        if LARGEST.contains(&plain) {
            Some(Ordering::Greater)
        } else {
            SMALLEST.contains(&plain).then_some(Ordering::Less)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Total;

    #[test]
    fn names_tell() {
        for (name, total) in [
            ("total", Some(Total::Sum)),
            ("grand total:", Some(Total::Sum)),
            ("sub-total", Some(Total::Sum)),
            ("total (eur)", Some(Total::Sum)),
            ("total 2023", Some(Total::Sum)),
            ("合计（件）", Some(Total::Sum)),
            ("average", Some(Total::Mean)),
            ("平均值", Some(Total::Mean)),
            ("total assets", Some(Total::Doubtful)),
            ("all sites", Some(Total::Doubtful)),
            ("总部", Some(Total::Doubtful)),
            ("其中：服务", Some(Total::Doubtful)),
            ("标准差", Some(Total::Doubtful)),
            ("standard deviation", Some(Total::Doubtful)),
            ("oslo", None),
            ("一班", None),
            ("", None),
            ("2023", None),
        ] {
            assert_eq!(Total::of(name), total, "{name:?}");
        }
    }
}
