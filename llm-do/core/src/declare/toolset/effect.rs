//! The strongest effect among the tools of a toolset, which the compiler compares with the effect that a tool declares.
//!
//! A worker has no effect of its own, but the effects of its tools, some of which may be workers. Workers can list each
//! other, and a constant that depends on itself is an error. So each constant is computed for a [`Depth`]: the maximum
//! number of further workers through which a worker can act.

use std::marker::PhantomData;

use super::membership::{Includes, Keyed, Yes};
use super::named_instance::NamedInstance;
use super::text::Text;
use crate::declare::tool::Effect;

/// Fits four names of at most 64 bytes each, and the text around them.
type Message = Text<640>;

/// An effect, and the tool that has it; and the tools that return untrusted text, return private data and send, each empty if it is missing.
#[derive(Clone, Copy, Debug)]
pub struct StrongestEffect {
    effect: Effect,
    /// The member of the toolset: the tool, or the worker that can call it.
    member: &'static str,
    tool: &'static str,
    /// The first member that returns untrusted text.
    source: &'static str,
    /// The first member that returns private data.
    private: &'static str,
    /// The first member that may send what it gets to other people.
    outside: &'static str,
}

impl StrongestEffect {
    const NONE: Self = Self::new("", Effect::ReadOnly);

    /// Returns the effect that a tool declares.
    #[must_use]
    pub const fn new(tool: &'static str, effect: Effect) -> Self {
        let outside = if effect.severity() > Effect::ReadOnly.severity() { tool } else { "" };
        Self { effect, member: tool, tool, source: "", private: "", outside }
    }

    /// Returns the effect that a worker has because it can call the tool. What the worker reads and sends is checked where it is declared.
    #[must_use]
    pub const fn through(self, worker: &'static str) -> Self {
        Self { member: worker, source: "", private: "", outside: "", ..self }
    }

    /// Returns the effect of a tool that returns untrusted text.
    #[must_use]
    pub const fn untrusted(self) -> Self {
        Self { source: self.member, ..self }
    }

    /// Returns the effect of a tool that returns private data.
    #[must_use]
    pub const fn private(self) -> Self {
        Self { private: self.member, ..self }
    }

    /// Returns the effect of a tool that sends what it gets to other people.
    #[must_use]
    pub const fn outside(self) -> Self {
        Self { outside: self.member, ..self }
    }

    /// Returns the effect of a tool that sends nothing to other people itself.
    #[must_use]
    pub const fn inside(self) -> Self {
        Self { outside: "", ..self }
    }

    /// Returns the same effect of another tool.
    pub(super) const fn of_tool(self, tool: &'static str) -> Self {
        Self {
            source: renamed(self.source, tool),
            private: renamed(self.private, tool),
            outside: renamed(self.outside, tool),
            ..Self::new(tool, self.effect)
        }
    }

    /// Returns the name of the member.
    pub(super) const fn member(self) -> &'static str {
        self.member
    }

    const fn or(self, other: Self) -> Self {
        let stronger = if other.effect.severity() > self.effect.severity() { other } else { self };
        Self {
            source: first(self.source, other.source),
            private: first(self.private, other.private),
            outside: first(self.outside, other.outside),
            ..stronger
        }
    }

    const fn is_of_member(&self) -> bool {
        super::text::same(self.member, self.tool)
    }
}

/// Returns the other name of a tool that was found.
const fn renamed(found: &str, name: &'static str) -> &'static str {
    if found.is_empty() { "" } else { name }
}

const fn first(one: &'static str, other: &'static str) -> &'static str {
    if one.is_empty() { other } else { one }
}

/// Some tools, and the strongest effect among them.
pub trait HasEffects {
    /// The strongest effect: read-only if there are no tools.
    const STRONGEST: StrongestEffect;
}

/// No tools.
#[derive(Debug)]
pub enum NoEffects {}

impl HasEffects for NoEffects {
    const STRONGEST: StrongestEffect = StrongestEffect::NONE;
}

/// The tools of both sides.
#[derive(Debug)]
pub struct StrongerOf<Left, Right>(PhantomData<(Left, Right)>);

impl<Left: HasEffects, Right: HasEffects> HasEffects for StrongerOf<Left, Right> {
    const STRONGEST: StrongestEffect = Left::STRONGEST.or(Right::STRONGEST);
}

/// An item without the items that its model can call.
#[derive(Debug)]
pub struct OwnEffect<Item>(PhantomData<Item>);

impl<Item: Keyed> HasEffects for OwnEffect<Item> {
    const STRONGEST: StrongestEffect = Item::OWN;
}

/// An item with the items that its model can call.
#[derive(Debug)]
pub struct ItemEffects<Item, D>(PhantomData<(Item, D)>);

impl<Item: Keyed, D: Depth> HasEffects for ItemEffects<Item, D> {
    const STRONGEST: StrongestEffect =
        Item::OWN.or(<Item::Calls<D> as HasEffects>::STRONGEST.through(Item::OWN.member));
}

/// The items that the model of a worker can call.
#[derive(Debug)]
pub struct CallsOf<Worker, D>(PhantomData<(Worker, D)>);

impl<Worker: CallsAt<D>, D: Depth> HasEffects for CallsOf<Worker, D> {
    const STRONGEST: StrongestEffect = Worker::STRONGEST;
}

/// A worker with toolsets; implemented by `#[worker]`.
pub trait CallsAt<D: Depth> {
    /// The strongest effect of its toolsets.
    const STRONGEST: StrongestEffect;
}

/// The maximum number of workers between a toolset and a tool.
pub trait Depth {
    /// The effects of an item.
    type Of<Item: Keyed>: HasEffects;
}

/// No worker.
#[derive(Debug)]
pub enum NoWorker {}

impl Depth for NoWorker {
    type Of<Item: Keyed> = OwnEffect<Item>;
}

/// One worker more than `D`.
#[derive(Debug)]
pub struct OneMore<D>(PhantomData<D>);

impl<D: Depth> Depth for OneMore<D> {
    type Of<Item: Keyed> = ItemEffects<Item, D>;
}

type TwoMore<D> = OneMore<OneMore<D>>;

/// The depth of the check. Constants that use each other this deep, in lists of 1,000 members, are within the default
/// recursion limit of the compiler, 128.
pub type EightWorkers = TwoMore<TwoMore<TwoMore<TwoMore<NoWorker>>>>;

/// Includes every tool.
enum EveryTool {}

impl Includes for EveryTool {
    type Answer<T: Keyed> = Yes;
    type Effects<Kept: Includes, D: Depth> = NoEffects;
    type Inside<I: NamedInstance> = Self;
}

/// Finds the strongest effect of `T` if that is a toolset: an inherent constant takes precedence.
#[derive(Debug)]
pub struct EffectProbe<T, D>(PhantomData<(T, D)>);

impl<T: Includes, D: Depth> EffectProbe<T, D> {
    /// The strongest effect.
    pub const STRONGEST: StrongestEffect = <T::Effects<EveryTool, D> as HasEffects>::STRONGEST;
}

/// The fallback of [`EffectProbe`] for other types, which the compiler reports elsewhere.
pub trait NotToolset {
    /// No effect.
    const STRONGEST: StrongestEffect = StrongestEffect::NONE;
}

impl<T, D> NotToolset for EffectProbe<T, D> {}

/// Checks that no item in the toolsets of `item` has a stronger effect than the one that `item` declares.
///
/// # Panics
///
/// Panics at compile time if one has; the message contains its name and both effects.
#[track_caller]
pub const fn assert_effect(item: &str, declared: Effect, found: StrongestEffect) {
    if found.effect.severity() > declared.severity() {
        panic_stronger(item, declared, &found);
    }
}

/// Checks that the own tools of a worker do not together read untrusted text, read private data and send: text could then have the data sent.
///
/// # Panics
///
/// Panics at compile time if they do; the message contains the names of three tools.
#[track_caller]
pub const fn assert_separate(worker: &str, found: StrongestEffect) {
    if found.source.is_empty() || found.private.is_empty() || found.outside.is_empty() {
        return;
    }
    let mut text = Message::new();
    push(&mut text, &["`", worker, "` reads untrusted text with `", found.source, "` and private data with `"]);
    push(
        &mut text,
        &[found.private, "`, and sends with `", found.outside, "`; give one of the tools to another worker, "],
    );
    push(&mut text, &["declare `code = true`, or give the reason with `flow_reason = \"..\"`"]);
    panic!("{}", text.as_str())
}

/// Checks that the tool of `reconcile` only reads.
///
/// # Panics
///
/// Panics at compile time if it declares another effect, or none; the message contains its name.
#[track_caller]
pub const fn assert_reads(found: StrongestEffect) {
    if found.effect.severity() > Effect::ReadOnly.severity() {
        let mut text = Message::new();
        push(
            &mut text,
            &["`", found.tool, "` finds out whether a call has happened; declare `effect = read_only` for it"],
        );
        panic!("{}", text.as_str())
    }
}

#[track_caller]
const fn panic_stronger(item: &str, declared: Effect, found: &StrongestEffect) -> ! {
    let mut text = Message::new();
    push(&mut text, &["`", item, "` declares `effect = ", declared.word(), "`, but its toolsets contain "]);
    if found.is_of_member() {
        push(&mut text, &["`", found.member, "`, which "]);
    } else {
        push(&mut text, &["the worker `", found.member, "`, which can call `", found.tool, "`, which "]);
    }
    push_effect(&mut text, declared, found);
    panic!("{}", text.as_str())
}

/// Appends the stronger effect, and how to fix it.
const fn push_effect(text: &mut Message, declared: Effect, found: &StrongestEffect) {
    if matches!(found.effect, Effect::Undeclared) {
        push(text, &["declares no effect; leave `", found.member, "` out"]);
        if found.is_of_member() {
            push(text, &[", declare its effect"]);
        }
        push(text, &[", or remove `effect = ", declared.word(), "`"]);
    } else {
        let stronger = found.effect.word();
        push(text, &["declares `effect = ", stronger, "`; leave `", found.member, "` out"]);
        push(text, &[", or declare `effect = ", stronger, "`"]);
    }
}

const fn push(text: &mut Message, parts: &[&str]) {
    let mut next = 0;
    while next < parts.len() {
        text.push(parts[next]);
        next += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEND: StrongestEffect = StrongestEffect::new("send", Effect::Destructive);

    #[test]
    fn an_effect_as_strong_as_declared_passes() {
        assert_effect("tool", Effect::ReadOnly, StrongestEffect::NONE);
        assert_effect("tool", Effect::Idempotent, StrongestEffect::new("set", Effect::Idempotent));
        assert_effect("tool", Effect::Destructive, StrongestEffect::new("add", Effect::Undeclared));
    }

    #[test]
    fn the_strongest_effect_is_named() {
        let found = StrongestEffect::new("set", Effect::Idempotent).or(SEND).or(StrongestEffect::NONE);
        assert_eq!((found.tool, found.effect), ("send", Effect::Destructive));
    }

    #[test]
    #[should_panic(
        expected = "`report` declares `effect = read_only`, but its toolsets contain `send`, which declares \
                               `effect = destructive`; leave `send` out, or declare `effect = destructive`"
    )]
    fn a_stronger_tool_is_named_with_both_effects() {
        assert_effect("report", Effect::ReadOnly, SEND);
    }

    #[test]
    #[should_panic(expected = "but its toolsets contain the worker `clerk`, which can call `send`, which declares \
                               `effect = destructive`; leave `clerk` out, or declare `effect = destructive`")]
    fn a_tool_of_a_worker_is_named_with_the_worker() {
        assert_effect("report", Effect::Idempotent, SEND.through("clerk"));
    }

    #[test]
    #[should_panic(expected = "`send` finds out whether a call has happened; declare `effect = read_only` for it")]
    fn a_tool_of_reconcile_that_changes_something_is_named() {
        assert_reads(StrongestEffect::NONE);
        assert_reads(SEND);
    }

    #[test]
    #[should_panic(
        expected = "`desk` reads untrusted text with `mail` and private data with `bank`, and sends with `send`; give one of"
    )]
    fn a_worker_with_a_source_private_data_and_a_way_out_is_named_with_them() {
        const MAIL: StrongestEffect = StrongestEffect::new("mail", Effect::ReadOnly).untrusted();
        const BANK: StrongestEffect = StrongestEffect::new("bank", Effect::ReadOnly).private();
        let note = StrongestEffect::new("note", Effect::Idempotent).inside();
        assert_separate("desk", MAIL.or(BANK).or(note));
        assert_separate("desk", SEND.or(BANK).or(MAIL.through("reader")));
        assert_separate("desk", SEND.or(BANK).or(MAIL));
    }

    #[test]
    fn the_longest_names_fit() {
        const NAME: &str = "a_name_of_64_bytes______________________________________________";
        let message = std::panic::catch_unwind(|| {
            assert_effect(NAME, Effect::ReadOnly, StrongestEffect::new(NAME, Effect::Undeclared).through("clerk"));
        });
        let message = *message.expect_err("a panic").downcast::<String>().expect("a text");
        assert!(message.ends_with("or remove `effect = read_only`"), "{message}");
    }
}
