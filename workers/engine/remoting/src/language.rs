//! Language codes: a name in JSON headers, a number in ROCKETMQ headers (remoting.md 1.2).

/// The language a peer says it is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Language(u8);

const NAMES: [&str; 14] = [
    "JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER", "HTTP", "GO", "PHP",
    "OMS", "RUST", "NODE_JS",
];

impl Language {
    /// Java; what an absent language stands for.
    pub const JAVA: Self = Self(0);
    /// Any language without a number.
    pub const OTHER: Self = Self(7);

    /// Take the number of a ROCKETMQ header; one we don't know is `OTHER`.
    #[must_use]
    pub fn from_number(number: u8) -> Self {
        if usize::from(number) < NAMES.len() {
            Self(number)
        } else {
            Self::OTHER
        }
    }

    /// Find a language by its exact name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        (0u8..)
            .zip(NAMES)
            .find_map(|(number, known)| (known == name).then_some(Self(number)))
    }

    /// The number ROCKETMQ headers use.
    #[must_use]
    pub fn number(self) -> u8 {
        self.0
    }

    /// The name JSON headers use.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES[usize::from(self.0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_own_number() {
        for (number, name) in (0u8..).zip(NAMES) {
            assert_eq!(Language::find(name).map(Language::number), Some(number));
            assert_eq!(Language::from_number(number).name(), name);
        }
    }

    #[test]
    fn an_unknown_number_is_other() {
        assert_eq!(Language::from_number(200), Language::OTHER);
        assert_eq!(Language::find("java"), None);
    }
}
