//! Values for flags from a file and from the environment.
//!
//! A flag on the command line wins over the environment, that over the file, and that over the
//! built-in default. The command line stays the only definition: a key is the long name of a flag,
//! an environment variable is that name in capitals with `CORNU_` in front, and what they say
//! becomes the flag's default before the arguments are read. So help, checks and messages are those
//! of the flags. A value that conflicts with a flag that is given gives way to it. Every value is
//! checked when it is read, also one that this command has no use for.

mod values;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use toml::de::DeTable;

use self::values::Key;
use crate::output::{self, Terminal};

const FILE: &str = "cornu.toml";
const PREFIX: &str = "CORNU_";

/// Keys whose values are paths: those of a file count from its folder.
const PATHS: [&str; 8] = [
    "db",
    "acl-map",
    "root",
    "questions",
    "beir",
    "qrels",
    "output",
    "dir",
];

/// What only a file that was named may say: a folder that somebody else has written shall not decide
/// what leaves the machine, or which variable's value is sent along.
const NAMED_ONLY: [&str; 4] = ["send", "chat-endpoint", "chat-send", "chat-key-env"];

/// Flags that make no sense as a setting.
const NOT_KEYS: [&str; 3] = ["help", "version", "config"];

/// Where a value is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    /// The file, and the line.
    File(PathBuf, usize),
    /// The variable.
    Environment(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("built in"),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
        }
    }
}

/// The values of a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) values: Vec<String>,
    pub(crate) origin: Origin,
}

/// Values by key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings(BTreeMap<String, Setting>);

/// The command line as it is written, with what file and environment say.
pub(crate) fn matches(
    command: impl Fn() -> Command,
    arguments: &[OsString],
) -> Result<(ArgMatches, Settings)> {
    let flags = Flags::of(&command());
    let read = flags
        .file(arguments)
        .and_then(|it| Ok((it, flags.environment()?)));
    let (mut settings, environment) = match read {
        Ok(read) => read,
        // Whoever asks for help is not to be told about settings.
        Err(error) => match command().try_get_matches_from(arguments) {
            Err(help) if !help.use_stderr() => return Err(help.into()),
            _ => return Err(error),
        },
    };
    let parse = |settings: &Settings| {
        let command = settings.applied_to(command());
        command.try_get_matches_from(arguments)
    };
    let given = |settings: &Settings| parse(settings).map_err(|error| settings.blamed(error));
    // What is given decides what gives way: flags first, then the environment over the file.
    let first = given(
        &Settings::default()
            .and(settings.clone())
            .and(environment.clone()),
    )?;
    let explicit = explicit(&command(), &first);
    settings.give_way(&command(), environment.0.keys().map(String::as_str));
    let mut settings = settings.and(environment);
    settings.give_way(&command(), explicit.iter().map(String::as_str));
    let matches = given(&settings)?;
    Ok((matches, settings))
}

impl Settings {
    /// These, and over them the others.
    fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// Each flag's value, the built-in ones among them, in order of name.
    pub(crate) fn effective(&self, command: &Command) -> BTreeMap<String, Setting> {
        let mut all = BTreeMap::new();
        for (key, flags) in Flags::of(command).0 {
            let values = flags.defaults();
            if !values.is_empty() {
                let origin = Origin::Default;
                all.insert(key, Setting { values, origin });
            }
        }
        all.extend(self.0.clone());
        all
    }

    /// The command with these values as its defaults.
    fn applied_to(&self, mut command: Command) -> Command {
        command = command.mut_args(|arg| self.default_of(arg));
        let names: Vec<String> = command
            .get_subcommands()
            .map(|it| it.get_name().to_owned())
            .collect();
        for name in names {
            command = command.mut_subcommand(name, |it| it.mut_args(|arg| self.default_of(arg)));
        }
        command
    }

    fn default_of(&self, arg: Arg) -> Arg {
        let setting = arg.get_long().and_then(|long| self.0.get(long));
        match setting {
            Some(setting) => arg
                .required(false)
                .default_values(setting.values.iter().map(clap::builder::OsStr::from)),
            None => arg,
        }
    }

    /// Leaves out what conflicts with keys that are given.
    fn give_way<'a>(&mut self, command: &Command, given: impl Iterator<Item = &'a str>) {
        let given: Vec<&str> = given.collect();
        let conflicts = |sub: &Command, one: &str, other: &str| {
            let arg = |key: &str| sub.get_arguments().find(|it| it.get_long() == Some(key));
            // One that has no long name goes by its id.
            let named =
                |key: &str| arg(key).or_else(|| sub.get_arguments().find(|it| it.get_id() == key));
            let (Some(one), Some(other)) = (named(one), named(other)) else {
                return false;
            };
            let with = |a: &Arg, b: &Arg| {
                let conflicts = sub.get_arg_conflicts_with(a);
                conflicts.iter().any(|it| it.get_id() == b.get_id())
            };
            with(one, other) || with(other, one)
        };
        self.0.retain(|key, _| {
            given.contains(&key.as_str())
                || !given.iter().any(|given| {
                    let mut commands = command.get_subcommands();
                    commands.any(|sub| conflicts(sub, given, key))
                })
        });
    }

    /// Says where a value is from that no flag gave.
    fn blamed(&self, error: clap::Error) -> anyhow::Error {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        let mut keys = self.0.iter();
        let set = keys.find(|(key, _)| first.contains(&format!("'--{key}")));
        if let Some((key, setting)) = set.filter(|_| error.use_stderr()) {
            let origin = &setting.origin;
            Terminal::new(true).error(&format!("{key} is set by {origin}"));
        }
        error.into()
    }
}

/// The flags that have a long name, by it.
struct Flags(BTreeMap<String, Key>);

impl Flags {
    fn of(command: &Command) -> Self {
        let own = command.get_arguments();
        let below = command.get_subcommands().flat_map(Command::get_arguments);
        let mut flags: BTreeMap<String, Key> = BTreeMap::new();
        for arg in own.chain(below) {
            if let Some(key) = arg.get_long().filter(|key| !NOT_KEYS.contains(key)) {
                flags.entry(key.to_owned()).or_default().add(arg);
            }
        }
        Self(flags)
    }

    fn environment(&self) -> Result<Settings> {
        let mut settings = Settings::default();
        for (key, flags) in &self.0 {
            let name = format!("{PREFIX}{}", key.replace('-', "_").to_uppercase());
            let value = match std::env::var(&name) {
                Ok(value) if !value.is_empty() => value,
                Err(std::env::VarError::NotUnicode(_)) => bail!("{name} is not Unicode"),
                _ => continue,
            };
            let read = flags.of_variable(&value);
            let values = read.map_err(|wanted| anyhow!("{name} is {value:?}; {wanted}"))?;
            let origin = Origin::Environment(name);
            settings.0.insert(key.clone(), Setting { values, origin });
        }
        Ok(settings)
    }

    fn file(&self, arguments: &[OsString]) -> Result<Settings> {
        let named = named_file(arguments).or_else(|| {
            let variable = std::env::var_os(format!("{PREFIX}CONFIG"));
            variable.filter(|it| !it.is_empty()).map(PathBuf::from)
        });
        let path = named.clone().unwrap_or_else(|| PathBuf::from(FILE));
        if named.is_none() && !path.is_file() {
            return Ok(Settings::default());
        }
        let shown = path.display();
        let text = fs::read_to_string(&path)
            .with_context(|| format!("cannot read the configuration {shown}"))?;
        let table = DeTable::parse(&text)
            .with_context(|| format!("the configuration {shown} is not TOML"))?;
        let mut settings = Settings::default();
        for (key, value) in table.get_ref() {
            let at = key.span().start;
            let line = 1 + text.get(..at).unwrap_or_default().matches('\n').count();
            let key = key.get_ref().as_ref();
            let place = format!("{shown}:{line}: `{key}`");
            let flags = self.0.get(key).with_context(|| match self.nearest(key) {
                Some(near) => format!("{place} is no key; did you mean `{near}`?"),
                None => format!("{place} is no key; keys are the long flags of `cornu`"),
            })?;
            ensure!(
                named.is_some() || !NAMED_ONLY.contains(&key),
                "{place} is for a file that is named with --config: a file that merely lies in the \
                 folder does not decide what leaves this machine; or give --{key}"
            );
            let read = flags.of_toml(value.get_ref());
            let mut values = read.map_err(|wanted| {
                let written = text.get(value.span()).unwrap_or_default();
                anyhow!("{place} is {}; {wanted}", shortened(written))
            })?;
            if PATHS.contains(&key) {
                let folder = path.parent().unwrap_or(Path::new(""));
                for value in &mut values {
                    *value = folder.join(&value).display().to_string();
                }
            }
            let origin = Origin::File(path.clone(), line);
            settings
                .0
                .insert(key.to_owned(), Setting { values, origin });
        }
        Ok(settings)
    }

    /// The key that was most likely meant.
    fn nearest(&self, key: &str) -> Option<&str> {
        let likeness = |known: &str| strsim::jaro_winkler(known, key);
        let keys = self.0.keys().map(String::as_str);
        let best = keys.max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
        (likeness(best) > 0.7).then_some(best)
    }
}

/// The file of `--config`, found before anything is read: what it says decides how the rest is.
fn named_file(arguments: &[OsString]) -> Option<PathBuf> {
    let mut rest = arguments.iter().skip(1);
    while let Some(argument) = rest.next() {
        let text = argument.to_str().unwrap_or_default();
        if text == "--" {
            return None;
        }
        if text == "--config" {
            return rest.next().map(PathBuf::from);
        }
        if let Some(path) = text.strip_prefix("--config=") {
            return Some(PathBuf::from(path));
        }
    }
    None
}

/// The ids or long names of what was given on the command line.
fn explicit(command: &Command, matches: &ArgMatches) -> Vec<String> {
    let Some((name, sub)) = matches.subcommand() else {
        return Vec::new();
    };
    let Some(command) = command.find_subcommand(name) else {
        return Vec::new();
    };
    let given = command.get_arguments().filter(|arg| {
        let known = sub.try_contains_id(arg.get_id().as_str()).is_ok();
        known && sub.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine)
    });
    given
        .map(|arg| arg.get_long().unwrap_or(arg.get_id().as_str()).to_owned())
        .collect()
}

/// A value as it is written in the file, on one line.
fn shortened(written: &str) -> String {
    const LONGEST: usize = 60;
    let shown: String = written.chars().take(LONGEST).collect();
    let more = if shown.len() < written.len() {
        "…"
    } else {
        ""
    };
    output::name(&shown) + more
}
