//! The tools.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::{NonZeroI32, NonZeroU8, NonZeroU64};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc};
use jiff::{SignedDuration, Timestamp, civil};
use llm_do::tool;
use proptest::prelude::*;
use serde_json::{Value, json};
use url::Url;
use uuid::Uuid;

use crate::constrained::{Lengths, Limited, Patterns, Ranges, Shown, With};
use crate::enums::{
    Adjacent, Colour, External, Internal, Loudness, MaybeTagged, Numeric, Tagged, TwiceTagged, Untagged,
};
use crate::foreign;
use crate::recursive::{Folder, Link, Term, Tree};
use crate::structs::{
    Catching, Closed, Defaults, Empty, Flattened, Größe, Inline, Keywords, Metres, Ordered, Page, Pair, Payload,
    Person, Point, Renamed, Skipping, Transparent, Unit,
};
use crate::{call_of, value_of};

/// Makes a tool of each `name: Type`, whose one argument `value` is any of the type or what follows `=`; and lists the
/// tools that are written out, each with its arguments.
macro_rules! corpus {
    (
        $($name:ident: $type:ty $(= $values:expr)?;)*
        --
        $($written_out:ident = $calls:expr;)*
    ) => {
        $(
            /// Give the value back.
            #[tool(effect = read_only, inline)]
            fn $name(value: $type) -> Value {
                json!({ "value": value })
            }
        )*

        /// Returns the tools' names, and valid arguments of each.
        pub(crate) fn all() -> Vec<(&'static str, BoxedStrategy<Value>)> {
            vec![
                $((stringify!($name), value_of::<$type>(corpus!(@values $type $(, $values)?))),)*
                $((stringify!($written_out), $calls),)*
            ]
        }
    };
    (@values $type:ty) => { any::<$type>() };
    (@values $type:ty, $values:expr) => { $values };
}

corpus! {
    a_bool: bool;
    a_u8: u8;
    a_u16: u16;
    a_u32: u32;
    a_u64: u64;
    // serde_json's numbers end where `u64` does.
    a_u128: u128 = any::<u64>().prop_map(u128::from);
    a_usize: usize;
    an_i8: i8;
    an_i16: i16;
    an_i32: i32;
    an_i64: i64;
    an_i128: i128 = any::<i64>().prop_map(i128::from);
    an_isize: isize;
    an_f32: f32;
    an_f64: f64;
    a_non_zero_u8: NonZeroU8;
    a_non_zero_u64: NonZeroU64;
    a_non_zero_i32: NonZeroI32;
    a_char: char;
    a_string: String;
    a_cow: Cow<'static, str> = any::<String>().prop_map(Cow::Owned);
    a_shared_str: Arc<str> = any::<String>().prop_map(Arc::from);
    a_path: PathBuf;
    nothing: ();

    an_option: Option<i32>;
    an_option_of_bool: Option<bool>;
    an_option_of_list: Option<Vec<String>>;
    an_option_of_map: Option<BTreeMap<String, u8>>;
    an_option_of_enum: Option<Colour>;
    an_option_of_data: Option<External>;
    a_list: Vec<String>;
    a_list_of_options: Vec<Option<u8>>;
    a_list_of_lists: Vec<Vec<i8>>;
    a_list_of_points: Vec<Point>;
    a_deque: VecDeque<u8>;
    an_array: [u8; 3];
    an_empty_array: [u8; 0];
    a_tuple: (i32, String);
    a_tuple_of_one: (bool,);
    a_nested_tuple: ((u8, u8), Option<(String, bool)>);
    a_set: BTreeSet<i32>;
    a_range: Range<u32>;
    a_result: Result<u8, String>;
    a_box: Box<Point>;
    an_arc: Arc<Vec<u16>>;

    a_hash_map: HashMap<String, i32>;
    a_map_of_lists: BTreeMap<String, Vec<Point>>;
    a_map_by_signed: BTreeMap<i32, String>;
    a_map_by_unsigned: BTreeMap<u8, bool>;
    a_map_by_enum: BTreeMap<Colour, i32>;
    any_json: Value = foreign::json();
    any_object: serde_json::Map<String, Value> =
        prop::collection::btree_map(any::<String>(), foreign::json(), 0..3).prop_map(|map| map.into_iter().collect());

    a_duration: Duration;
    a_system_time: SystemTime = foreign::system_time();
    an_ipv4: Ipv4Addr;
    an_ipv6: Ipv6Addr;
    an_ip: IpAddr;
    a_socket: SocketAddr;
    a_uuid: Uuid = foreign::uuid();
    a_url: Url = foreign::url();
    a_chrono_time: DateTime<Utc> = foreign::chrono_time();
    a_chrono_local: NaiveDateTime = foreign::chrono_local();
    a_chrono_date: NaiveDate = foreign::chrono_date();
    a_chrono_clock: NaiveTime = foreign::chrono_clock();
    a_chrono_delta: TimeDelta = foreign::chrono_delta();
    a_jiff_time: Timestamp = foreign::jiff_time();
    a_jiff_local: civil::DateTime = foreign::jiff_local();
    a_jiff_date: civil::Date = foreign::jiff_date();
    a_jiff_clock: civil::Time = foreign::jiff_clock();
    a_jiff_duration: SignedDuration = foreign::jiff_duration();

    a_point: Point;
    a_person: Person;
    renamed: Renamed;
    defaults: Defaults;
    flattened: Flattened;
    catching: Catching;
    skipping: Skipping;
    closed: Closed;
    keywords: Keywords;
    ordered: Ordered;
    a_newtype: Metres;
    transparent: Transparent;
    a_pair: Pair;
    a_unit: Unit;
    an_empty: Empty;
    a_page_of_points: Page<Point>;
    a_page_of_texts: Page<String>;
    inline: Inline;
    an_option_of_inline: Option<Inline>;

    a_colour: Colour;
    a_loudness: Loudness;
    external: External;
    internal: Internal;
    adjacent: Adjacent;
    untagged: Untagged;
    numeric: Numeric;
    tagged: Tagged;

    a_tree: Tree;
    a_link: Link;
    a_term: Term;
    a_folder: Folder;

    ranges: Ranges;
    lengths: Lengths;
    patterns: Patterns;
    shown: Shown;
    with: With;
    limited: Limited;

    a_payload: Payload;
    not_ascii: Vec<Größe>;
    twice_tagged: TwiceTagged;
    maybe_tagged: MaybeTagged;
    --
    no_arguments = call_of(|()| no_arguments {});
    borrowed = call_of(|(text, path, numbers)| borrowed { text, path, numbers });
    optional = call_of(|(left, right)| optional { left, right });
    with_defaults =
        call_of(|(zoom, encoding, count, corner)| with_defaults { zoom, encoding, count, corner });
    described = call_of(|(kind, anything, at, by): (_, String, _, _)| described { r#type: kind, anything: anything.into(), at, by });
    two_of_a_kind = call_of(|(from, to)| two_of_a_kind { from, to });
}

/// Take nothing.
#[tool(effect = read_only, inline)]
fn no_arguments() -> Value {
    json!({})
}

/// Take what is lent.
#[tool(effect = read_only, inline)]
fn borrowed(text: &str, path: &Path, numbers: &[i32]) -> Value {
    json!({ "text": text, "path": path, "numbers": numbers })
}

/// Take what may be absent.
#[tool(effect = read_only, inline)]
fn optional(left: Option<Point>, right: Option<String>) -> Value {
    json!({ "left": left, "right": right })
}

/// Take what has defaults.
#[tool(effect = read_only, inline)]
fn with_defaults(
    #[arg(default = 1.5)] zoom: f64,
    #[arg(default = "utf-8")] encoding: String,
    #[arg(default = 3)] count: u8,
    #[arg(default = Colour::Green)] corner: Colour,
) -> Value {
    json!({ "zoom": zoom, "encoding": encoding, "count": count, "corner": corner })
}

/// Take what is described.
#[tool(effect = read_only, inline)]
fn described(
    /// Which kind.
    r#type: Loudness,
    /// Anything you know.
    anything: Value,
    /// Where it is.
    #[arg(rename = "where")]
    at: Point,
    #[arg(description = "How far, in metres.")] by: Option<Metres>,
) -> Value {
    json!({ "type": r#type, "anything": anything, "where": at, "by": by })
}

/// Take two values of one type.
#[tool(effect = read_only, inline)]
fn two_of_a_kind(from: Point, to: Point) -> Value {
    json!({ "from": from, "to": to })
}
