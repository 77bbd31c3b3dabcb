//! Named instances: the tools of a type with methods once more, under the name of the instance and with state of its own.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Toolset;
use super::effect::{Depth, StrongestEffect};
use super::member::{MAX_NAME, Member};
use super::membership::{Includes, Key, Keyed, Yes};
use super::text::Text;
use crate::base::error::Fault;
use crate::declare::argument::{Arguments, Described, Fields, TextFields};
use crate::declare::tool::Tool;

/// Separates the name of an instance from the name of a tool; the macro has the same.
const SEPARATOR: &str = "__";

/// A named instance of a type with methods: `toolset! { orders = instance(Database); }`.
///
/// [`RuntimeBuilder::state_for`] sets its state. Implemented by `toolset!`, not by hand.
///
/// [`RuntimeBuilder::state_for`]: crate::session::runtime::RuntimeBuilder::state_for
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a named instance of a toolset",
    label = "not declared with `NAME = instance(TYPE);` in `toolset!`"
)]
pub trait NamedInstance: 'static {
    /// The registered name.
    const NAME: &'static str;

    /// The hash of the name.
    #[doc(hidden)]
    type Key: Key;

    /// The type with methods.
    #[doc(hidden)]
    type Toolset: Includes;
}

/// Implemented by a named instance that has the tool `T`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{T}` is not a tool of the instance `{Self}`",
    label = "not a method of its type",
    note = "call `{T}` itself, without `{Self}::of`"
)]
pub trait HasTool<T> {}

#[diagnostic::do_not_recommend]
impl<T: Keyed, I: NamedInstance<Toolset: Includes<Answer<T> = Yes>>> HasTool<T> for I {}

/// A call of a tool of a named instance: `ctx.call(orders::of(query { table }))`.
///
/// A type alias of it is a member of `toolsets`, with one tool: `type QueryOrders = OfInstance<orders, query>;`.
#[derive(Debug)]
pub struct OfInstance<I, T> {
    call: T,
    instance: PhantomData<fn() -> I>,
}

impl<I, T> OfInstance<I, T> {
    /// Returns the call with these arguments.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(call: T) -> Self {
        Self { call, instance: PhantomData }
    }
}

impl<I: NamedInstance, T: Keyed> OfInstance<I, T> {
    const TEXT: &'static Text<MAX_NAME> = &joined(I::NAME, T::OWN.member());
    const REGISTERED: &'static str = Self::TEXT.as_str();
}

/// Returns the registered name of a tool of an instance.
const fn joined(instance: &str, tool: &str) -> Text<MAX_NAME> {
    let mut name = Text::new();
    name.push(instance);
    name.push(SEPARATOR);
    name.push(tool);
    name
}

#[diagnostic::do_not_recommend]
impl<I: NamedInstance + HasTool<T>, T: Keyed> Toolset for OfInstance<I, T> {
    const MEMBERS: &'static [Member] = &[Member::new(Self::REGISTERED)];
}

impl<I: NamedInstance, T: Keyed> Keyed for OfInstance<I, T> {
    type Key = <I::Key as Key>::Then<T::Key>;
    type Calls<D: Depth> = T::Calls<D>;
    const OWN: StrongestEffect = T::OWN.of_tool(Self::REGISTERED);
}

#[diagnostic::do_not_recommend]
impl<I: NamedInstance + HasTool<T>, T: Tool + Keyed> Tool for OfInstance<I, T> {
    const NAME: &'static str = Self::REGISTERED;
    type Output = T::Output;
}

impl<I, T: Arguments> Arguments for OfInstance<I, T> {
    const PARAMETERS: &'static [&'static dyn Described] = T::PARAMETERS;

    fn read(fields: &mut Fields) -> Result<Self, Fault> {
        T::read(fields).map(Self::new)
    }

    fn read_text(fields: &mut TextFields<'_>) -> Option<Self> {
        T::read_text(fields).map(Self::new)
    }

    fn write(&self, fields: &mut Fields) -> Result<(), Fault> {
        self.call.write(fields)
    }
}

impl<I, T: Serialize> Serialize for OfInstance<I, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.call.serialize(serializer)
    }
}

impl<'de, I, T: Deserialize<'de>> Deserialize<'de> for OfInstance<I, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::new)
    }
}

impl<I, T: JsonSchema> JsonSchema for OfInstance<I, T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// The tools of a type with methods as those of an instance.
#[doc(hidden)]
#[derive(Debug)]
pub struct InstanceOf<Type, I>(PhantomData<(Type, I)>);

#[diagnostic::do_not_recommend]
impl<Type: Includes, I: NamedInstance> Includes for InstanceOf<Type, I> {
    type Answer<T: Keyed> = <Type::Inside<I> as Includes>::Answer<T>;
    type Effects<Kept: Includes, D: Depth> = <Type::Inside<I> as Includes>::Effects<Kept, D>;
    type Inside<Other: NamedInstance> = <Type::Inside<I> as Includes>::Inside<Other>;
}

/// Returns the members with the names that they are shown by as their registered names; `N` is their number.
#[doc(hidden)]
#[must_use]
pub const fn registered_as_shown<const N: usize>(members: &'static [Member]) -> [Member; N] {
    let mut all = [Member::new(""); N];
    let mut next = 0;
    while next < N {
        all[next] = Member::new(members[next].shown());
        next += 1;
    }
    all
}
