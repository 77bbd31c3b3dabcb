//! A group has two keys, `approval` and `on_unknown`.

#![allow(unused)]

use llm_do::{tool, toolset};

/// Read.
#[tool]
fn read() {}

toolset! {
    first(approve = ask) = [read];

    second(approval = asks) = [read];

    third(approval = ask, approval = pre_approved) = [read];

    fourth(approval) = [read];

    fifth[approval = ask] = [read];

    sixth(approval = ask);

    seventh(on_unknown = never) = [read];
}

fn main() {}
