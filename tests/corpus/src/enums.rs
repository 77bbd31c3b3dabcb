//! Enums in all representations of serde.

use llm_do::data;
use proptest::prelude::*;

use crate::structs::Point;
use crate::{arbitrary, made};

/// A colour.
#[data]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Colour {
    Red,
    Green,
    Blue,
}
arbitrary!(Colour = prop_oneof![Just(Colour::Red), Just(Colour::Green), Just(Colour::Blue)]);

/// Verbosity of the log.
#[data]
#[derive(Clone, Debug)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Loudness {
    /// Errors only.
    VeryQuiet,
    /// Changes only.
    Normal,
    /// Everything.
    #[serde(rename = "loud", alias = "noisy")]
    VeryLoud,
}
arbitrary!(Loudness = prop_oneof![Just(Loudness::VeryQuiet), Just(Loudness::Normal), Just(Loudness::VeryLoud)]);

/// A shape, externally tagged.
#[data]
#[derive(Clone, Debug)]
#[serde(rename_all = "snake_case")]
pub(crate) enum External {
    /// An empty shape.
    Nothing,
    /// One point.
    At(Point),
    /// A line with two ends.
    LineSegment(i32, i32),
    /// A circle.
    #[serde(rename_all = "camelCase")]
    Circle { inner_radius: u8, centre: Option<Point> },
}
arbitrary!(
    External = prop_oneof![
        Just(External::Nothing),
        made(|(point,)| External::At(point)),
        made(|(from, to)| External::LineSegment(from, to)),
        made(|(inner_radius, centre)| External::Circle { inner_radius, centre }),
    ]
);

/// A command, internally tagged.
#[data]
#[derive(Clone, Debug)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Internal {
    /// Stay in place.
    Wait,
    /// Move by a distance.
    Move { by: i32, carefully: Option<bool> },
    /// Move to a point.
    Jump(Point),
}
arbitrary!(
    Internal = prop_oneof![
        Just(Internal::Wait),
        made(|(by, carefully)| Internal::Move { by, carefully }),
        made(|(point,)| Internal::Jump(point)),
    ]
);

/// A message, adjacently tagged.
#[data]
#[derive(Clone, Debug)]
#[serde(tag = "type", content = "content")]
pub(crate) enum Adjacent {
    Ping,
    Text(String),
    Pair(u8, bool),
    Place { at: Point },
}
arbitrary!(
    Adjacent = prop_oneof![
        Just(Adjacent::Ping),
        made(|(text,)| Adjacent::Text(text)),
        made(|(number, flag)| Adjacent::Pair(number, flag)),
        made(|(at,)| Adjacent::Place { at }),
    ]
);

/// One of several types, untagged.
#[data]
#[derive(Clone, Debug)]
#[serde(untagged)]
pub(crate) enum Untagged {
    Number(i64),
    Text(String),
    Texts(Vec<String>),
    Place { at: Point },
}
arbitrary!(
    Untagged = prop_oneof![
        made(|(number,)| Untagged::Number(number)),
        made(|(text,)| Untagged::Text(text)),
        made(|(texts,)| Untagged::Texts(texts)),
        made(|(at,)| Untagged::Place { at }),
    ]
);

/// An integer or a float.
#[data]
#[derive(Clone, Debug)]
#[serde(untagged)]
pub(crate) enum Numeric {
    Whole(u8),
    Fraction(f64),
}
arbitrary!(Numeric = prop_oneof![made(|(whole,)| Numeric::Whole(whole)), (0.1..0.9).prop_map(Numeric::Fraction)]);

/// A flattened, internally tagged enum with other fields.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Tagged {
    id: u32,
    #[serde(flatten)]
    what: Internal,
}
arbitrary!(Tagged { id, what });

/// Two flattened enums.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct TwiceTagged {
    id: u32,
    #[serde(flatten)]
    what: Internal,
    #[serde(flatten)]
    said: Adjacent,
}
arbitrary!(TwiceTagged { id, what, said });

/// Two optional flattened enums.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct MaybeTagged {
    #[serde(flatten)]
    what: Option<Internal>,
    #[serde(flatten)]
    said: Option<Adjacent>,
}
arbitrary!(MaybeTagged { what, said });
