//! The charges that have no known price.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

use serde::de::Deserializer;
use serde::{Deserialize, Serialize, Serializer};

/// A set of charges without a known price, such as `web_search`.
///
/// `Display` lists their names: `web_search, service_tier`. The serde form is the list of names; unknown names are
/// skipped.
///
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers as usage; }
/// use llm_do::usage::Unpriced;
/// let unpriced = Unpriced::WEB_SEARCH | Unpriced::SERVICE_TIER;
/// assert_eq!(unpriced.to_string(), "web_search, service_tier");
/// assert_eq!(serde_json::to_string(&unpriced)?, r#"["web_search","service_tier"]"#);
/// assert!(Unpriced::default().is_empty());
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Unpriced(u8);

impl Unpriced {
    /// Web searches.
    pub const WEB_SEARCH: Self = Self(1);
    /// File searches.
    pub const FILE_SEARCH: Self = Self(1 << 1);
    /// Containers in which the provider runs code.
    pub const CODE_EXECUTION: Self = Self(1 << 2);
    /// Images that a tool of the provider generates.
    pub const IMAGE_GENERATION: Self = Self(1 << 3);
    /// Other server-side tools.
    pub const OTHER_TOOLS: Self = Self(1 << 4);
    /// Tokens at another service tier, speed or region than the standard one.
    pub const SERVICE_TIER: Self = Self(1 << 5);

    const NAMES: [(Self, &'static str); 6] = [
        (Self::WEB_SEARCH, "web_search"),
        (Self::FILE_SEARCH, "file_search"),
        (Self::CODE_EXECUTION, "code_execution"),
        (Self::IMAGE_GENERATION, "image_generation"),
        (Self::OTHER_TOOLS, "other server-side tools"),
        (Self::SERVICE_TIER, "service_tier"),
    ];

    /// Returns whether every charge has a known price.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether all charges of `other` are in this set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the names of the charges.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().filter(move |(charge, _)| self.contains(*charge)).map(|(_, name)| name)
    }

    /// Returns the set if `is_charged`, and the empty set otherwise.
    pub(super) fn if_charged(self, is_charged: bool) -> Self {
        if is_charged { self } else { Self::default() }
    }
}

impl BitOr for Unpriced {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Unpriced {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl fmt::Display for Unpriced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.names().collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Debug for Unpriced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

impl Serialize for Unpriced {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.names())
    }
}

impl<'de> Deserialize<'de> for Unpriced {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        let listed = Self::NAMES.into_iter().filter(|(_, name)| names.iter().any(|known| known == name));
        Ok(listed.fold(Self::default(), |set, (charge, _)| set | charge))
    }
}
