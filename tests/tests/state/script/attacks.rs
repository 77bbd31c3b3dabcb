//! Scripts that try to exhaust the process or to leave the interpreter: each ends as an error or a harmless value.

use std::time::{Duration, Instant};

use crate::script::{run_body, with_body};

/// Bodies of scripts, each with what its end must contain; empty for any end.
const ATTACKS: [(&str, &str); 37] = [
    ("    while True:\n        pass", "time limit"),
    (
        "    while True:\n        try:\n            while True:\n                pass\n        except BaseException:\n            pass",
        "time limit",
    ),
    ("    return 'a' * 10 ** 10", "Memory"),
    ("    return len([0] * 10 ** 10)", "Memory"),
    ("    return 2 ** 10 ** 10", "Memory"),
    ("    return 1 << 10 ** 10", "Memory"),
    ("    x: list[str] = []\n    while True:\n        x.append('a' * 100000)", "more than 512 MiB of memory"),
    ("    def f(n: int) -> int:\n        return f(n + 1)\n    return f(0)", "recursion"),
    ("    x: Any = []\n    for _ in range(100000):\n        x = [x]\n    return x", ""),
    ("    x: Any = []\n    for _ in range(100000):\n        x = [x]\n    return str(x)[:3]", ""),
    ("    x: Any = {}\n    x['x'] = x\n    return x", "JSON"),
    ("    import re\n    return bool(re.match(r'(a+)+$', 'a' * 40 + 'b'))", ""),
    ("    import re\n    return len(re.findall('a{0,65535}' * 20, 'a' * 100))", ""),
    ("    import json\n    return json.loads('[' * 100000)", ""),
    ("    import json\n    x: Any = []\n    for _ in range(100000):\n        x = [x]\n    return json.dumps(x)", ""),
    ("    print('x' * 1000000)", "printed more"),
    ("    while True:\n        print('x')", ""),
    ("    return [price('x') for _ in range(2000)]", "more than 1000 calls"),
    ("    return ().__class__.__bases__", ""),
    ("    return str(().__class__.__mro__)", ""),
    ("    return [c for c in object.__subclasses__()]", ""),
    ("    return price.__globals__", ""),
    ("    return (lambda: 0).__code__.co_code", ""),
    ("    return __import__('os').system('id')", ""),
    ("    import builtins\n    return builtins.open('/etc/passwd').read()", ""),
    ("    import sys\n    return sys.modules", ""),
    ("    import sys\n    sys.exit(3)", ""),
    ("    raise SystemExit(3)", ""),
    ("    raise KeyboardInterrupt()", ""),
    ("    import subprocess\n    return subprocess.run(['id'])", ""),
    ("    import socket\n    return socket.socket()", ""),
    ("    import ctypes\n    return ctypes.CDLL(None)", ""),
    ("    from pathlib import Path\n    return Path('/etc/passwd').read_text()", "no clock, files"),
    ("    import os\n    return os.getenv('HOME')", "no files, environment"),
    ("    return '{0.__class__}'.format(1)", ""),
    ("    return sorted([1, 2], key=lambda x: sorted([1, 2], key=lambda y: 1 / 0))", "ZeroDivisionError"),
    ("    return globals()", ""),
];

#[tokio::test(flavor = "multi_thread")]
async fn no_attack_ends_or_stalls_the_process() {
    for (body, expected) in ATTACKS {
        let started = Instant::now();
        let end = match run_body(body).await {
            Ok(value) => value.to_string(),
            Err(error) => crate::script::text_of(&error),
        };
        assert!(end.contains(expected), "{body}: {end}");
        assert!(started.elapsed() < Duration::from_secs(30), "{body}");
        assert!(!end.contains("root:"), "{body}: {end}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nested_source_does_not_overflow_the_stack() {
    let deep = [
        format!("    return {}1{}", "(".repeat(30_000), ")".repeat(30_000)),
        format!("    return {}1{}", "[".repeat(30_000), "]".repeat(30_000)),
        format!("    return {}1", "-".repeat(60_000)),
        format!("    return {}True", "not ".repeat(15_000)),
        format!("    return 1{}", "+1".repeat(30_000)),
        format!("    x = 1\n    return x{}", ".a".repeat(30_000)),
        format!("    return price{}", "()".repeat(30_000)),
        format!("    return {}1", "lambda: ".repeat(7_000)),
        format!("    return {}1", "1 if 1 else ".repeat(5_000)),
        (0..500).fold(String::new(), |text, depth| text + &"    ".repeat(depth % 100 + 1) + "if True:\n"),
    ];
    for body in deep {
        let text = with_body("def main() -> Any:", &body);
        // An error or a value: the process goes on.
        drop(crate::script::run(&text, llm_do::Value::Null).await);
    }
}
