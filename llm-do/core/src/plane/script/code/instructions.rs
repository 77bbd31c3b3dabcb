//! The instructions of a model for its tool `run_code`.

use super::super::names::Callees;
use super::super::stubs::Stubs;

const RULES: &str = "
# Code

Call your tools by code: pass Python to the tool `run_code`, which is the only tool that you call directly. One piece of code may make
many calls; use loops, conditions and comprehensions, and compute in code what can be computed.

- The value of the last expression is returned to you; keep large data in variables, and return only what you need.
- Variables stay for your next code.
- The functions below exist already: do not define or import them. Call them plainly, without `await`.
- To make calls concurrently, write `await asyncio.gather(*[f(x) for x in xs])` after `import asyncio`. In code with `await`, write it
  before every call of these functions, or pass the call to `gather`.
- The code is type-checked before it runs. If it is refused, it has not run.
- If it fails, the calls that it made before are listed; do not repeat their effects.
- Known modules: asyncio, base64, collections, dataclasses, datetime, functools, itertools, json, math, re, typing. No files, network, clock or
  randomness. No `yield`, `match`, `del`, class inheritance or `%` formatting.
- Do not call the functions inside `key=`, `map`, `filter` or `__repr__`: call them in a loop before.

```python
# The functions that you can call.
";

/// Returns the text after the instructions of a code-mode worker: the rules, the stubs of its tools and an example.
pub(super) fn rules(callees: &Callees) -> String {
    let stubs = Stubs::new(callees, false).text();
    let example = callees.sorted().first().map_or("tool", |(name, _)| *name);
    format!(
        "\n{RULES}{stubs}```\n\nFor example, `results = [{example}(..) for item in items]`, and on the last line what you want to see of \
         `results`.\n"
    )
}
