//! Options of the command line: `--name value`, or `--name` alone for a switch.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use crate::Failure;

/// Options that were given and not yet taken.
#[derive(Debug)]
pub(crate) struct Options {
    given: BTreeMap<String, String>,
}

const TIMEOUT_S: f64 = 10.0;
const SWITCHES: &[&str] = &["read-back"];

impl Options {
    pub(crate) fn parse(words: &[String]) -> Result<Self, Failure> {
        let mut given = BTreeMap::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let name = word
                .strip_prefix("--")
                .ok_or_else(|| format!("unexpected word {word:?}"))?;
            let value = if SWITCHES.contains(&name) {
                String::new()
            } else {
                words
                    .next()
                    .ok_or_else(|| format!("--{name} needs a value"))?
                    .clone()
            };
            if given.insert(name.to_owned(), value).is_some() {
                return Err(format!("--{name} is given twice").into());
            }
        }
        Ok(Self { given })
    }

    pub(crate) fn switch(&mut self, name: &str) -> bool {
        self.given.remove(name).is_some()
    }

    pub(crate) fn find<T: FromStr>(&mut self, name: &str) -> Result<Option<T>, Failure> {
        let Some(value) = self.given.remove(name) else {
            return Ok(None);
        };
        match value.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(format!("--{name} cannot be {value:?}").into()),
        }
    }

    pub(crate) fn get<T: FromStr>(&mut self, name: &str) -> Result<T, Failure> {
        self.find(name)?
            .ok_or_else(|| format!("--{name} is missing").into())
    }

    pub(crate) fn get_or<T: FromStr>(&mut self, name: &str, default: T) -> Result<T, Failure> {
        Ok(self.find(name)?.unwrap_or(default))
    }

    /// A whole number of at least one.
    pub(crate) fn count(&mut self, name: &str, default: usize) -> Result<usize, Failure> {
        match self.get_or(name, default)? {
            0 => Err(format!("--{name} must be at least 1").into()),
            count => Ok(count),
        }
    }

    /// A time in seconds, above zero.
    pub(crate) fn seconds(&mut self, name: &str) -> Result<Option<f64>, Failure> {
        match self.find::<f64>(name)? {
            Some(seconds) if !(seconds > 0.0 && seconds.is_finite()) => {
                Err(format!("--{name} must be above 0").into())
            }
            seconds => Ok(seconds),
        }
    }

    /// The address of the broker, and how long it may say nothing.
    pub(crate) fn broker(&mut self) -> Result<(String, Duration), Failure> {
        let seconds = self.seconds("timeout")?.unwrap_or(TIMEOUT_S);
        Ok((self.get("address")?, Duration::from_secs_f64(seconds)))
    }

    /// Refuse what no option took.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self.given.keys().next() {
            Some(name) => Err(format!("unknown option --{name}").into()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options, Failure> {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        Options::parse(&words)
    }

    #[test]
    fn options_are_taken_by_name() {
        let mut options = parse("--topic T --read-back --count 5").unwrap();

        assert_eq!(options.get::<String>("topic").unwrap(), "T");
        assert!(options.switch("read-back"));
        assert_eq!(options.find::<u32>("count").unwrap(), Some(5));
        assert_eq!(options.count("connections", 1).unwrap(), 1);
        options.finish().unwrap();
    }

    #[test]
    fn errors_name_the_option() {
        let message = |result: Result<_, Failure>| match result {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        };
        let mut options = parse("--count five --rate 0 --body 1").unwrap();

        assert_eq!(
            message(options.find::<u32>("count").map(drop)),
            "--count cannot be \"five\""
        );
        assert_eq!(
            message(options.seconds("rate").map(drop)),
            "--rate must be above 0"
        );
        assert_eq!(
            message(options.get::<String>("topic").map(drop)),
            "--topic is missing"
        );
        assert_eq!(message(options.finish()), "unknown option --body");
        assert_eq!(message(parse("--topic").map(drop)), "--topic needs a value");
        assert_eq!(
            message(parse("topic").map(drop)),
            "unexpected word \"topic\""
        );
    }
}
