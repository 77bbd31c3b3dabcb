//! Values that may carry untrusted text, and types that cannot.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::schema::UNTRUSTED;

/// A type whose values carry no text that anyone may have written: numbers, dates, choices of an `enum` without text, and lists and
/// structs of these.
///
/// `#[data]` implements it for each type whose fields are bounded. It is a promise to the compiler only: at run time, the schema and the
/// value decide.
///
/// # Examples
///
/// ```
/// use llm_do::flow::Bounded;
/// use llm_do::prelude::*;
///
/// #[data]
/// enum Kind {
///     Invoice,
///     Other,
/// }
///
/// #[data]
/// struct Sorted {
///     kind: Kind,
///     cents: Option<u32>,
/// }
///
/// fn is_bounded<T: Bounded>() {}
/// is_bounded::<Sorted>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` may carry text that anyone has written",
    label = "not `Bounded`",
    note = "numbers, dates, enums without text, and `#[data]` types of these are `Bounded`"
)]
pub trait Bounded {}

macro_rules! bounded {
    ($($ty:ty),* $(,)?) => { $(impl Bounded for $ty {})* };
}

bounded!((), bool, f32, f64, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);
bounded!(jiff::Timestamp, jiff::civil::Date, jiff::civil::DateTime, jiff::civil::Time);

impl<T: Bounded + ?Sized> Bounded for Box<T> {}
impl<T: Bounded> Bounded for Option<T> {}
impl<T: Bounded> Bounded for Vec<T> {}
impl<T: Bounded, const N: usize> Bounded for [T; N] {}

/// Where what a tool gets may arrive.
///
/// As JSON: `"own"` or `"outside"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reach {
    /// Only at the user's own data, such as a file or a calendar that only the user reads.
    Own,
    /// At other people, such as the receiver of a mail.
    #[default]
    Outside,
}

/// The type of a field, with a lifetime: the compiler accepts a bound that does not hold only if the bound has one.
#[doc(hidden)]
#[derive(Debug)]
pub struct FieldType<'a, T: ?Sized>(PhantomData<(&'a (), PhantomData<T>)>);

impl<T: Bounded + ?Sized> Bounded for FieldType<'_, T> {}

/// What a quarantined worker may return.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a worker with `quarantined = true` cannot return `{Self}`",
    label = "may carry text that the worker has read",
    note = "return a `Bounded` type, or `llm_do::flow::Untrusted<..>`"
)]
pub trait QuarantinedOutput {}

#[diagnostic::do_not_recommend]
impl<T: Bounded> QuarantinedOutput for T {}

#[diagnostic::do_not_recommend]
impl<T> QuarantinedOutput for Untrusted<T> {}

/// A value that anyone may have written, such as the text of a mail.
///
/// The type declares what a [policy](crate::plane::approval::Policy#untrusted-text) otherwise declares by name. As the result of a tool or a
/// worker, or in it at any depth, it makes the tool a source of untrusted text, with which values have labels. As an argument, it takes
/// text that the call only passes on: untrusted text in it does not steer the call.
///
/// In JSON it is the value. An argument of another type does not accept it: code takes out a [bounded](Bounded) value,
/// [endorses](crate::plane::context::CallContext::endorse) it, or passes it on.
///
/// # Examples
///
/// ```standalone_crate
/// use llm_do::flow::Untrusted;
/// use llm_do::prelude::*;
///
/// #[data]
/// struct Mail {
///     id: u32,
///     text: Untrusted<String>,
/// }
///
/// /// Read the newest mail.
/// #[tool(effect = read_only)]
/// fn newest_mail() -> Mail {
///     Mail { id: 7, text: Untrusted::new("Please pay 80 cents.".to_owned()) }
/// }
///
/// /// Write a note.
/// #[tool(effect = idempotent, approval = pre_approved, reach = own)]
/// fn write_note(title: String, text: Untrusted<String>) -> usize {
///     title.len() + text.as_data().len()
/// }
///
/// /// Notes the newest mail.
/// #[entry(toolsets = [newest_mail, write_note])]
/// async fn note_mail(ctx: &CallContext<Self>) -> Result<usize> {
///     let mail = ctx.call(newest_mail {}).await?;
///     ctx.call(write_note { title: format!("Mail {}", mail.id), text: mail.text }).await
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let runtime = Runtime::builder().build()?;
/// assert_eq!(runtime.run(note_mail {}).await?, 26);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Untrusted<T>(T);

impl<T> Untrusted<T> {
    /// Marks a value as one that anyone may have written.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// Changes the value; the new one is as untrusted.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::flow::Untrusted;
    ///
    /// let text = Untrusted::new("Invoice 7: 80 cents".to_owned());
    /// let is_invoice = text.map(|text| text.starts_with("Invoice"));
    /// assert!(is_invoice.into_bounded());
    /// ```
    #[must_use]
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Untrusted<U> {
        Untrusted(change(self.0))
    }

    /// Returns the value for code that only passes it on, such as the body of a tool that gets it as data.
    #[must_use]
    pub const fn as_data(&self) -> &T {
        &self.0
    }

    /// Returns the value, as [`as_data`](Self::as_data).
    #[must_use]
    pub fn into_data(self) -> T {
        self.0
    }
}

impl<T: Bounded> Untrusted<T> {
    /// Returns the value, which carries no text: anyone may have chosen which.
    #[must_use]
    pub fn into_bounded(self) -> T {
        self.0
    }
}

impl<T> From<T> for Untrusted<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<T: JsonSchema> JsonSchema for Untrusted<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Untrusted_{}", T::schema_name()).into()
    }

    fn schema_id() -> Cow<'static, str> {
        format!("Untrusted<{}>", T::schema_id()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        schema.insert(UNTRUSTED.to_owned(), true.into());
        schema
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use super::Untrusted;
    use crate::declare::schema;

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Mail {
        id: u32,
        text: Untrusted<String>,
        replies: Vec<Mail>,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Note {
        title: String,
        text: Untrusted<String>,
        more: Option<Untrusted<Vec<String>>>,
        lines: Vec<Untrusted<String>>,
        mail: Mail,
        source: Option<Untrusted<Mail>>,
    }

    #[test]
    fn untrusted_text_is_found_at_any_depth_of_a_type() {
        assert!(schema::has_untrusted::<Untrusted<String>>());
        assert!(schema::has_untrusted::<Vec<Option<Mail>>>());
        assert!(!schema::has_untrusted::<Vec<String>>());
    }

    #[test]
    fn arguments_that_are_untrusted_as_a_whole_are_data() {
        assert_eq!(schema::untrusted_properties::<Note>(), ["text", "more", "lines", "source"]);
    }

    #[test]
    fn in_json_it_is_the_value_and_its_schema_is_that_of_the_value() {
        assert_eq!(schema::of::<Untrusted<String>>(), json!({ "type": "string" }));
        assert!(!schema::of::<Note>().to_string().contains(schema::UNTRUSTED));
        let mail = Mail { id: 7, text: "Hello".to_owned().into(), replies: Vec::new() };
        assert_eq!(json!(mail), json!({ "id": 7, "text": "Hello", "replies": [] }));
        let read: Untrusted<String> = serde_json::from_value(json!("Hello")).unwrap();
        assert_eq!(read.into_data(), "Hello");
    }
}
