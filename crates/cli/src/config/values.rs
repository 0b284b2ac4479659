//! What a key takes, and whether a value of the file or of the environment is one.

use std::any::TypeId;
use std::path::PathBuf;

use clap::{Arg, ArgAction, Command};
use toml::de::DeValue;

/// The flags with one long name: several commands may have it, and take different values. A value is
/// one of the key when one of them takes it. What is wrong is told as what to give.
#[derive(Default)]
pub(super) struct Key(Vec<Arg>);

impl Key {
    pub(super) fn add(&mut self, arg: &Arg) {
        self.0.push(arg.clone());
    }

    /// The built-in values.
    pub(super) fn defaults(&self) -> Vec<String> {
        let defaults = self.0.last().into_iter().flat_map(Arg::get_default_values);
        defaults.map(|it| it.display().to_string()).collect()
    }

    /// The values of a variable: lists are parted by commas.
    pub(super) fn of_variable(&self, value: &str) -> Result<Vec<String>, String> {
        if self.is_switch() {
            let value = value.to_lowercase();
            let on = ["1", "true", "yes", "on"].contains(&value.as_str());
            let off = ["0", "false", "no", "off"].contains(&value.as_str());
            return match on || off {
                true => Ok(vec![on.to_string()]),
                false => Err("give true or false".to_owned()),
            };
        }
        let values = match self.takes_many() {
            true => value.split(',').map(str::to_owned).collect(),
            false => vec![value.to_owned()],
        };
        self.checked(values)
    }

    /// The values of the file.
    pub(super) fn of_toml(&self, value: &DeValue<'_>) -> Result<Vec<String>, String> {
        let values = match value {
            DeValue::Boolean(on) if self.is_switch() => return Ok(vec![on.to_string()]),
            _ if self.is_switch() => return Err("it is a switch: give true or false".to_owned()),
            DeValue::Array(values) if self.takes_many() => {
                let plain = values.iter().map(|value| self.plain(value.get_ref()));
                plain.collect::<Result<_, _>>()?
            }
            DeValue::Array(_) => return Err(format!("give one value, {}", self.kind())),
            value => vec![self.plain(value)?],
        };
        self.checked(values)
    }

    fn plain(&self, value: &DeValue<'_>) -> Result<String, String> {
        let number = match value {
            DeValue::String(text) => return Ok(text.to_string()),
            DeValue::Integer(number) => {
                let value = i64::from_str_radix(number.as_str(), number.radix());
                value
                    .map_err(|_| "give a number of at most 64 bits".to_owned())?
                    .to_string()
            }
            DeValue::Float(number) => number.as_str().to_owned(),
            _ => return Err(format!("give {}", self.kind())),
        };
        match self.is_text() {
            true => Err(format!("give text: {number:?}")),
            false => Ok(number),
        }
    }

    fn checked(&self, values: Vec<String>) -> Result<Vec<String>, String> {
        for value in &values {
            if self.has(|arg| check(arg, value).is_ok()) {
                continue;
            }
            if !self.names().is_empty() {
                return Err(format!("give {}", self.kind()));
            }
            self.0.iter().try_for_each(|arg| check(arg, value))?;
        }
        Ok(values)
    }

    /// In words, what one value is.
    fn kind(&self) -> String {
        let names = self.names();
        let one = if !names.is_empty() {
            format!("one of {}", names.join(", "))
        } else if self.is_text() {
            "text".to_owned()
        } else if self.is_string() {
            "text or a number".to_owned()
        } else {
            "a number".to_owned()
        };
        match self.takes_many() {
            true => format!("{one}, or a list of such"),
            false => one,
        }
    }

    /// The values of which one has to be given, if they are named.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for value in self.0.iter().flat_map(Arg::get_possible_values) {
            if !names.iter().any(|name| name == value.get_name()) {
                names.push(value.get_name().to_owned());
            }
        }
        names
    }

    fn is_switch(&self) -> bool {
        self.has(|arg| matches!(arg.get_action(), ArgAction::SetTrue))
    }

    fn takes_many(&self) -> bool {
        self.has(|arg| matches!(arg.get_action(), ArgAction::Append))
    }

    fn is_string(&self) -> bool {
        self.has(|arg| {
            let parsed = arg.get_value_parser().type_id();
            parsed == TypeId::of::<String>() || parsed == TypeId::of::<PathBuf>()
        })
    }

    /// Whether a number is no value of it: names and paths. The threshold is a path or a number.
    fn is_text(&self) -> bool {
        let number = |arg: &Arg| {
            let mut names = arg.get_value_names().unwrap_or_default().iter();
            names.any(|name| name.contains("NUMBER"))
        };
        self.is_string() && !self.has(number)
    }

    fn has(&self, property: impl Fn(&Arg) -> bool) -> bool {
        self.0.iter().any(property)
    }
}

/// As the command line checks it: `Err` with what to give.
fn check(arg: &Arg, value: &str) -> Result<(), String> {
    let mut alone = Arg::new("value")
        .long("value")
        .value_parser(arg.get_value_parser().clone());
    if let Some(delimiter) = arg.get_value_delimiter() {
        alone = alone.value_delimiter(delimiter);
    }
    let command = Command::new("check").no_binary_name(true).arg(alone);
    let parsed = command.try_get_matches_from([format!("--value={value}")]);
    parsed.map(|_| ()).map_err(|error| {
        let source = std::error::Error::source(&error);
        source.map_or("give a value".to_owned(), ToString::to_string)
    })
}
