//! What stands behind the name of a group is told with its grammar.

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
