//! A group has one key, `approval`.

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
}

fn main() {}
