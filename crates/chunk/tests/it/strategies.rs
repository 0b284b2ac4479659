//! show
use crate::counters::*;
use crate::documents::*;
use cornu_chunk::*;
#[test]
fn show() {
    let src = "---\ntitle: x\n---\n# 手册\n\n## 安装\n\n先停机。再断电。然后检查仪表。表1如下：\n\n| 键 | 值 |\n|---|---|\n| k | 1 |\n| b | 2 |\n| c | 3 |\n| d | 4 |\n| e | 5 |\n| f | 6 |\n\n尾巴在这里。\n\n```rust\nlet a = 1;\nlet b = 2;\n```\n<!-- hidden -->\n## 运行\n\n见 [规范][s]。接通电源。One two three four five six seven eight nine ten eleven twelve.\n\n[s]: https://e.org\n";
    for c in chunks(src, 60) {
        println!(
            "{:?} {} core {} toks {} path {:?} prefix {:?}\n--text\n{}\n--index\n{}\n=======",
            c.kind, c.span, c.core, c.tokens, c.heading_path, c.prefix, c.text, c.index_text
        );
    }
    for c in family(chars(), 150, 50).chunk(&doc(src)).unwrap() {
        println!(
            "{:?} {:?} {} core {} toks {} path {:?}\n{}\n=====",
            c.role, c.kind, c.span, c.core, c.tokens, c.heading_path, c.text
        );
    }
}
