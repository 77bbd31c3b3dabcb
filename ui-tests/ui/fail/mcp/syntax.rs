//! Other forms of a source are reported with the correct one.

use llm_do::prelude::*;

toolset! {
    a = mpc("good.mcp.json");
}

toolset! {
    b = server("good.mcp.json");
}

toolset! {
    c = mcp();
}

toolset! {
    d = mcp("good.mcp.json", "faulty.mcp.json");
}

toolset! {
    e(approval = ask) = mcp("good.mcp.json");
}

toolset! {
    f = mcp("good.mcp.json")
}

toolset! {
    g(on_unknown = report) = mcp("good.mcp.json");
}

fn main() {}
