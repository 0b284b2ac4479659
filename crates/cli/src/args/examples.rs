//! What stands below each command's help and in its man page. A test reads every line as the program
//! would.

pub(super) const CORNU: &str = "\
Examples:
  cornu index notes --db notes.db --acl public
  cornu ask \"When to call zero_grad?\" --db notes.db --public
  cornu search zero_grad --db notes.db --public -k 3

Exit codes:
  0  done, found, answered
  1  done, but for some files or documents; or `doctor` found something
  2  wrong usage, or something that could not be read or written
  3  refused, or nothing found

Results go to standard output, everything else to standard error. There are no colours.";

pub(super) const INDEX: &str = "\
Examples:
  cornu index notes --db notes.db --acl public
  cornu index handbook --db notes.db --acl-map grants.toml --prune
  cornu index notes --db notes.db --acl public --extract rules --watch";

pub(super) const SEARCH: &str = "\
Examples:
  cornu search zero_grad --db notes.db --public -k 3
  cornu search \"parental leave\" --db notes.db --as hr --as public --route sparse --json";

pub(super) const ASK: &str = "\
Examples:
  cornu ask \"When to call zero_grad?\" --db notes.db --public
  cornu ask \"Which pump has the highest pressure?\" --db notes.db --group hr --segments balanced
  cornu ask \"When to call zero_grad?\" --db notes.db --public --threshold threshold.json --json";

pub(super) const EXPLAIN: &str = "\
Examples:
  cornu explain \"When to call zero_grad?\" --db notes.db --public -k 3
  cornu explain \"When to call zero_grad?\" --db notes.db --public --threshold threshold.json";

pub(super) const CALIBRATE: &str = "\
Example:
  cornu calibrate --db notes.db --public --questions questions.jsonl --split dev -o threshold.json";

pub(super) const EVAL: &str = "\
Examples:
  cornu eval --db notes.db --public --questions questions.jsonl --compare hybrid,sparse
  cornu eval --db notes.db --public --beir scifact --routes sparse,hybrid -k 1,10,100";

pub(super) const REMOVE: &str = "\
Example:
  cornu remove notes/old.md notes/draft.md --db notes.db";

pub(super) const DOCTOR: &str = "\
Example:
  cornu doctor --db notes.db --json";

pub(super) const STATS: &str = "\
Example:
  cornu stats --db notes.db";

pub(super) const REBUILD: &str = "\
Example:
  cornu rebuild-index --db notes.db --vacuum";

pub(super) const CONFIG: &str = "\
Example:
  cornu config --config notes.toml";

pub(super) const COMPLETIONS: &str = "\
Examples:
  cornu completions bash > ~/.local/share/bash-completion/completions/cornu
  cornu completions fish > ~/.config/fish/completions/cornu.fish";

pub(super) const MAN: &str = "\
Examples:
  cornu man > cornu.1
  cornu man --dir man";
