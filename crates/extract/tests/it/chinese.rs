//! What the Chinese rules read.

use cornu_extract::RuleExtractor;

fn has(text: &str, subject: &str, predicate: &str, object: &str) {
    let found = RuleExtractor::new().read(text).triples;
    let is = |t: &&cornu_core::Triple| {
        (t.subject.as_str(), t.predicate.as_str(), t.object.as_str())
            == (subject, predicate, object)
    };
    assert!(
        found.iter().any(|t| is(&t)),
        "{subject} {predicate} {object} is not in {found:#?}"
    );
}

fn names(text: &str) -> Vec<String> {
    RuleExtractor::new().read(text).entities
}

#[test]
fn people_companies_and_posts() {
    has("李伟任甲公司财务总监。", "李伟", "任", "甲公司");
    has("李伟任甲公司财务总监。", "李伟", "任", "财务总监");
}

#[test]
fn companies_by_their_endings() {
    let text = "腾讯科技（深圳）有限公司收购了京东15%的股权，Alpha 资本持有 Beta 控股。";
    assert_eq!(
        names(text),
        [
            "腾讯科技（深圳）有限公司",
            "京东",
            "15%",
            "Alpha 资本",
            "Beta 控股"
        ]
    );
    has(text, "Alpha 资本", "持有", "Beta 控股");
}

/// `控股` and `投资` end names, and are what somebody does with a company.
#[test]
fn what_is_done_is_no_part_of_a_name() {
    for (text, wanted) in [
        // How it is held stands behind the name and in front of the verb.
        (
            "北辰资本由海宁基金全资控股。",
            &["北辰资本", "海宁基金"][..],
        ),
        ("海宁基金全资控股 Beta 科技。", &["海宁基金", "Beta 科技"]),
        // Behind 由 there is somebody, and something that somebody does.
        (
            "北辰资本由 Vega 基金控股，总部在上海。",
            &["北辰资本", "Vega 基金", "上海"],
        ),
        ("由 Vega 基金投资的北辰物流。", &["Vega 基金", "北辰物流"]),
        // It does something else, so this is its name.
        ("北辰资本由 Star 控股收购。", &["北辰资本", "Star 控股"]),
        ("北辰资本的股东是 Star 控股。", &["北辰资本", "Star 控股"]),
        ("该公司由甲方出资，股东是 Star 控股。", &["Star 控股"]),
        // Somebody else is behind 由 or 被, or it is an office that is spoken of.
        (
            "李伟被任命为北辰控股的董事长。",
            &["李伟", "北辰控股", "董事长"],
        ),
        ("该公司被出售给 Star 控股。", &["Star 控股"]),
        (
            "公司由北辰科技改名为 Vega 控股。",
            &["北辰科技", "Vega 控股"],
        ),
        (
            "总裁由 Vega 控股的李伟担任。",
            &["总裁", "Vega 控股", "李伟"],
        ),
        // Before another ending it is part of the name.
        (
            "中信证券直接投资有限公司成立。",
            &["中信证券", "投资有限公司"],
        ),
        ("上海实业合资公司位于上海。", &["上海实业合资公司", "上海"]),
        // A joint company may have such a word before any ending.
        ("上汽合资公司位于上海。", &["上汽合资公司", "上海"]),
    ] {
        let found = names(text);
        assert_eq!(found, wanted, "{text}");
    }
}

#[test]
fn places_dates_and_titles_in_marks() {
    let text =
        "阿里巴巴集团\n该公司由马云于1999年在浙江省杭州市创立，旗下产品包括《淘宝》和“支付宝”。";
    let wanted = [
        "阿里巴巴集团",
        "马云",
        "1999年",
        "浙江省",
        "杭州市",
        "淘宝",
        "支付宝",
    ];
    assert_eq!(names(text), wanted);
    // "该公司" is the title; a list shares its predicate.
    has(text, "阿里巴巴集团", "旗下产品包括", "淘宝");
    has(text, "阿里巴巴集团", "旗下产品包括", "支付宝");
}

#[test]
fn a_new_clause_may_have_another_subject() {
    let text = "张三丰担任北京大学校长，李伟毕业于清华大学。";
    has(text, "张三丰", "担任", "北京大学");
    has(text, "李伟", "毕业于", "清华大学");
}

#[test]
fn a_person_whose_name_is_kept_back() {
    assert!(names("其委托人张某已被列入名单。").contains(&"张某".to_owned()));
}

#[test]
fn sentences_of_both_languages_in_one_passage() {
    let text = "Rome is in Italy. 罗马位于意大利。";
    let found = names(text);
    assert!(
        found.contains(&"Rome".to_owned()) && found.contains(&"意大利".to_owned()),
        "{found:?}"
    );
}
