//! Policies that are proposed from recorded decisions.

use fastrand::Rng;
use llm_do::approval::{ApprovalRequest, Decision, Policy, PolicyProposal, PolicyProposer, Rule};
use llm_do::harden::PolicyReplay;
use llm_do::journal::{MemoryJournal, Record};
use llm_do::prelude::*;
use llm_do::{Runtime, Value, json};
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::test_runner::Config;

/// Write a page.
#[tool(effect = idempotent)]
fn write_page(path: String, text: String) -> usize {
    path.len() + text.len()
}

/// Pay someone.
#[tool(effect = destructive)]
fn pay_bonus(cents: u32) {
    let _ = cents;
}

/// Fetch a feed.
#[tool(effect = idempotent)]
fn fetch_feed(url: String, #[arg(default = 10)] items: u32) {
    let _ = (url, items);
}

/// Makes one call.
#[entry]
async fn press(ctx: &CallContext, tool: String, arguments: Value) -> Result<Value> {
    // The run goes on after a denial.
    Ok(ctx.call_tool(&tool, arguments).await.unwrap_or_default())
}

/// Makes one call for another department.
#[entry]
async fn sales(ctx: &CallContext, tool: String, arguments: Value) -> Result<Value> {
    Ok(ctx.call_tool(&tool, arguments).await.unwrap_or_default())
}

type Approves = fn(&ApprovalRequest) -> bool;

/// Runs calls of `press` with a person who decides by a function; returns the records of each run.
async fn recorded(calls: impl IntoIterator<Item = (&'static str, Value)>, approves: Approves) -> Vec<Vec<Record>> {
    let decide = move |request: ApprovalRequest| async move {
        if approves(&request) { Decision::approve() } else { Decision::deny("no") }
    };
    let runtime = Runtime::builder().approve_with(decide).build().unwrap();
    let mut runs = Vec::new();
    for (tool, arguments) in calls {
        let journal = MemoryJournal::new();
        runtime.start(press { tool: tool.to_owned(), arguments }).journal(journal.clone()).await.unwrap();
        runs.push(journal.records());
    }
    runs
}

/// A recorded decision about a call, as a journal has it.
fn decision(caller: &str, tool: &str, arguments: &Value, is_approved: bool) -> Vec<Record> {
    let verdict = if is_approved { json!({ "approved": null }) } else { json!({ "denied": "no" }) };
    let record = json!({
        "key": format!("{caller}:0f/{tool}:17/approval"), "parent": format!("{caller}:0f"), "place": 0, "overlapped": false,
        "kind": "approval", "name": tool, "input": arguments, "value": { "verdict": verdict, "by": "approver" },
        "time": "2026-01-31T12:00:00Z",
    });
    vec![serde_json::from_value(record).unwrap()]
}

fn propose(runs: &[Vec<Record>], change: impl FnOnce(PolicyProposer) -> PolicyProposer) -> PolicyProposal {
    let mut proposer = change(PolicyProposer::new(Runtime::builder()).unwrap());
    for (number, records) in runs.iter().enumerate() {
        proposer.add(Some(&format!("run-{number}")), records);
    }
    proposer.propose()
}

/// Returns whether a policy approves a call by `caller`.
struct Judge(PolicyReplay);

impl Judge {
    fn new(policy: &Value) -> Self {
        let policy: Policy = serde_json::from_value(policy.clone()).unwrap();
        Self(PolicyReplay::new(Runtime::builder().policy(policy)).unwrap())
    }

    fn approves(&mut self, caller: &str, tool: &str, arguments: &Value) -> bool {
        let before = self.0.report().passed;
        self.0.add(None, &decision(caller, tool, arguments, true));
        self.0.report().passed > before
    }
}

fn page(path: &str) -> (&'static str, Value) {
    ("write_page", json!({ "path": path, "text": "a page" }))
}

#[tokio::test]
async fn a_pattern_in_500_decisions_is_found() {
    let approved = (100..350).map(|number| page(&format!("/srv/pages/{number}.md")));
    let denied = (100..350).map(|number| page(&format!("/srv/{}/{number}.md", ["keys", "mail"][number % 2])));
    let runs = recorded(approved.chain(denied), |request| {
        request.arguments["path"].as_str().unwrap().starts_with("/srv/pages/")
    });
    let proposal = propose(&runs.await, |proposer| proposer);
    assert_eq!((proposal.approved, proposal.denied, proposal.saves), (250, 250, 250), "{proposal}");
    let [rule] = proposal.rules.as_slice() else { panic!("{proposal}") };
    assert_eq!((rule.tool.as_str(), rule.caller.as_str()), ("write_page", "press"));
    let condition = &rule.rule["when"]["properties"];
    assert_eq!(condition["text"], json!({ "const": "a page" }));
    assert_eq!(condition["path"]["maxLength"], 17);
    assert!(condition["path"]["pattern"].as_str().unwrap().starts_with("^/srv/pages(/"), "{condition}");
    assert!(rule.shown > 100 && rule.held_back > 50 && rule.shown + rule.held_back == 250, "{proposal}");

    let mut judge = Judge::new(&proposal.policy);
    let mut approves = |caller, path| judge.approves(caller, "write_page", &page(path).1);
    assert!(approves("press", "/srv/pages/999.md"));
    assert!(!approves("sales", "/srv/pages/999.md"), "no call of another caller was approved");
    for path in ["/srv/keys/100.md", "/srv/pages/../keys/100.md", "/srv/pages/a.txt", "/srv/pages/%2e%2e/a.md"] {
        assert!(!approves("press", path), "{path}");
    }
    let evidence = proposal.to_string();
    for part in ["250 approved, 250 denied", "a path below `/srv/pages/` that ends with `.md`", "Signature", "run-"] {
        assert!(evidence.contains(part), "`{part}` is not in: {evidence}");
    }
}

#[tokio::test]
async fn no_rule_follows_from_decisions_without_a_pattern() {
    for share in [0.5, 0.9] {
        let mut random = Rng::with_seed(7);
        let mut runs = Vec::new();
        for _ in 0..500 {
            let path = format!("/srv/{}/{}.md", ["a", "b", "c"][random.usize(..3)], random.u32(..1000));
            let is_approved = random.f64() < share;
            let (tool, arguments) = if random.bool() {
                ("write_page", json!({ "path": path, "text": "x" }))
            } else {
                ("fetch_feed", json!({ "url": "https://a.test/", "items": random.u32(..1000) }))
            };
            runs.push(decision("press", tool, &arguments, is_approved));
        }
        let proposal = propose(&runs, |proposer| proposer);
        assert!(proposal.is_empty() && proposal.policy == json!({ "calls": [] }), "{share}: {proposal}");
        assert!(proposal.approved + proposal.denied == 500 && proposal.saves == 0);
    }
}

#[test]
fn free_text_is_never_approved_unless_it_only_carries_data() {
    let run = |number: usize| {
        let folder = if number % 2 == 0 { "pages" } else { "keys" };
        let arguments =
            json!({ "path": format!("/srv/{folder}/{number:03}.md"), "text": format!("Dear reader {number:03}") });
        decision("press", "write_page", &arguments, number % 2 == 0)
    };
    let runs: Vec<_> = (0..300).map(run).collect();
    let proposal = propose(&runs, |proposer| proposer);
    assert!(proposal.is_empty(), "{proposal}");
    assert!(proposal.notes[0].contains("`write_page` by `press`: the values of `text` in 150"), "{:?}", proposal.notes);

    let proposal = propose(&runs, |proposer| proposer.data_argument("write_page", "text"));
    assert_eq!(proposal.saves, 150, "{proposal}");
    let mut judge = Judge::new(&proposal.policy);
    let mut approves =
        |text: &str| judge.approves("press", "write_page", &json!({ "path": "/srv/pages/1.md", "text": text }));
    assert!(approves("Dear all"));
    assert!(!approves(&"x".repeat(16)), "longer than any approved text");
}

#[test]
fn a_destructive_tool_has_a_rule_only_if_that_is_asked_for() {
    let runs: Vec<_> = (0..200).map(|n| decision("press", "pay_bonus", &json!({ "cents": 37 * n }), n < 100)).collect();
    let proposal = propose(&runs, |proposer| proposer);
    assert!(proposal.is_empty() && proposal.approved == 0, "{proposal}");
    assert_eq!(proposal.left_out["pay_bonus: the tool is destructive"], 200);

    let proposal = propose(&runs, PolicyProposer::destructive);
    let mut judge = Judge::new(&proposal.policy);
    let mut approves = |cents| judge.approves("press", "pay_bonus", &json!({ "cents": cents }));
    assert!(approves(500) && !approves(3700) && !approves(1_000_000), "{proposal}");
}

#[test]
fn hosts_ports_and_defaults_are_part_of_a_rule() {
    let run = |number: usize| {
        let host = ["https://feeds.example.com", "https://feeds.example.com.evil.test", "http://feeds.example.com"]
            [number % 3];
        let arguments = json!({ "url": format!("{host}/rss/{number:03}") });
        decision("press", "fetch_feed", &arguments, number % 3 == 0)
    };
    let proposal = propose(&(0..300).map(run).collect::<Vec<_>>(), |proposer| proposer);
    assert_eq!(proposal.saves, 100, "{proposal}");
    let mut judge = Judge::new(&proposal.policy);
    let mut approves = |arguments: Value| judge.approves("press", "fetch_feed", &arguments);
    assert!(approves(json!({ "url": "https://feeds.example.com/rss/7" })));
    assert!(approves(json!({ "url": "https://feeds.example.com/rss/7", "items": 10 })));
    assert!(
        !approves(json!({ "url": "https://feeds.example.com/rss/7", "items": 11 })),
        "only the default was approved"
    );
    for url in [
        "https://feeds.example.com/other/7",
        "https://feeds.example.com:444/rss/7",
        "https://feeds.example.com@evil.test/rss/7",
        "https://feeds.ex\u{430}mple.com/rss/7",
        "https://feeds.example.com.evil.test/rss/7",
    ] {
        assert!(!approves(json!({ "url": url })), "{url}");
    }
}

#[test]
fn hostile_values_do_not_widen_a_rule() {
    let hostile = |number: usize| match number % 5 {
        0 => format!("/srv/pages/../../etc/{number}.md"),
        1 => format!("/srv/%70ages/{number}.md"),
        2 => format!("/etc/\u{202e}{number}.md"),
        3 => format!("/srv/pages/{}.md", "x".repeat(5_000 + number)),
        _ => format!("/srv/pages\\..\\{number}.md"),
    };
    let honest = (0..200).map(|number| format!("/srv/pages/{number:03}.md"));
    let paths = honest.chain((0..200).map(hostile));
    let mut runs: Vec<_> = paths.map(|path| decision("press", "write_page", &page(&path).1, true)).collect();
    runs.extend(
        (0..100).map(|number| decision("press", "write_page", &page(&format!("/srv/keys/{number}.md")).1, false)),
    );
    let proposal = propose(&runs, |proposer| proposer);
    assert_eq!(proposal.saves, 200, "the honest ones: {proposal}");
    let mut judge = Judge::new(&proposal.policy);
    for path in (200..300).map(hostile).chain(["/etc/passwd.md".to_owned(), "/srv/pages/\u{0}.md".to_owned()]) {
        assert!(!judge.approves("press", "write_page", &page(&path).1), "{path}");
    }
}

#[tokio::test]
async fn decisions_of_modes_reviewers_and_rules_do_not_count() {
    let calls = (0..60).map(|number| page(&format!("/srv/pages/{number}.md")));
    let mut runs = recorded(calls, |_| true).await;
    for record in runs.iter_mut().flatten().filter(|record| record.value.get("by").is_some()) {
        record.value["by"] = json!("reviewer");
    }
    let proposal = propose(&runs, |proposer| proposer);
    assert!(proposal.is_empty() && proposal.approved == 0, "{proposal}");
    assert_eq!(proposal.left_out["write_page: no person decided"], 60);
}

#[test]
fn an_edit_denies_the_arguments_as_they_were() {
    let edited = |number: usize| {
        let mut run = decision("press", "write_page", &page(&format!("/srv/pages/{number}.md")).1, true);
        run[0].value["verdict"] = json!({ "approved": page("/srv/pages/safe.md").1 });
        run
    };
    let proposal = propose(&(0..100).map(edited).collect::<Vec<_>>(), |proposer| proposer);
    assert_eq!((proposal.approved, proposal.denied, proposal.is_empty()), (0, 100, true), "{proposal}");
}

#[test]
fn a_rule_by_caller_holds_for_that_caller_only() {
    let small = json!({ "properties": { "cents": { "maximum": 100 } } });
    let policy = Policy::new().when_called_by("press", "pay_bonus", small, Rule::PreApproved);
    let written = json!(policy);
    assert_eq!(written["calls"][0]["caller"], "press");
    let mut judge = Judge::new(&written);
    assert!(judge.approves("press", "pay_bonus", &json!({ "cents": 100 })));
    assert!(!judge.approves("press", "pay_bonus", &json!({ "cents": 101 })));
    assert!(!judge.approves("sales", "pay_bonus", &json!({ "cents": 1 })));
    let typo = Policy::new().when_called_by("pres", "pay_bonus", json!({ "required": ["cents"] }), Rule::Ask);
    let runtime = Runtime::builder().policy(typo).build().unwrap();
    assert!(runtime.warnings().iter().any(|text| text.contains("unknown caller `pres`")), "{:?}", runtime.warnings());
}

/// A path, often below the same few folders, sometimes hostile.
fn path() -> impl Strategy<Value = String> {
    let folder =
        prop_oneof![Just("/srv/pages"), Just("/srv/pages/2026"), Just("/srv/keys"), Just("/etc"), Just("notes")];
    let name = prop_oneof![
        "[a-z]{1,6}",
        "[a-z]{1,3}\\.md",
        Just("..".to_owned()),
        Just("%2e".to_owned()),
        Just("a\u{7}".to_owned())
    ];
    (folder, name).prop_map(|(folder, name)| format!("{folder}/{name}"))
}

/// Returns whether a path is below a folder that contains an approved one, and is written plainly; or is approved itself.
fn is_in_hull(path: &str, approved: &[String]) -> bool {
    let top = |path: &str| path.trim_start_matches('/').split('/').next().map(str::to_owned);
    let is_plain = !path.contains("..") && !path.contains('%') && !path.contains(char::is_control);
    let longest = approved.iter().map(String::len).max().unwrap_or_default();
    let is_below =
        approved.iter().any(|other| top(other) == top(path) && other.starts_with('/') == path.starts_with('/'));
    approved.iter().any(|other| other == path) || (is_plain && is_below && path.len() <= longest)
}

proptest! {
    #![proptest_config(Config::with_cases(48))]

    #[test]
    fn a_proposed_policy_stays_in_the_hull_and_decides_as_people_did(
        paths in proptest::collection::vec((path(), 0u32..5), 40..160),
        probes in proptest::collection::vec((path(), 0u32..9), 40),
        denies in any::<[bool; 4]>(),
    ) {
        let is_approved = |path: &str, items: u32| {
            let folders = ["/srv/pages", "/srv/keys", "/etc", "notes"];
            let is_denied = folders.iter().zip(denies).any(|(folder, denies)| denies && path.starts_with(folder));
            !is_denied && items < 4
        };
        let call = |path: &str, items: u32| json!({ "url": path, "items": items });
        // Repeated, so that there are enough of them.
        let decided: Vec<_> = paths.iter().chain(&paths).chain(&paths).collect();
        let runs: Vec<_> = decided.iter().map(|(path, items)| {
            decision("press", "fetch_feed", &call(path, *items), is_approved(path, *items))
        }).collect();
        let proposal = propose(&runs, |proposer| proposer);
        let mut judge = Judge::new(&proposal.policy);
        let approved: Vec<_> =
            paths.iter().filter(|(path, items)| is_approved(path, *items)).map(|(path, _)| path.clone()).collect();
        for (path, items) in &paths {
            let passes = judge.approves("press", "fetch_feed", &call(path, *items));
            assert!(!passes || is_approved(path, *items), "a denied call passes: {path} {items}\n{proposal}");
        }
        for (path, items) in &probes {
            if judge.approves("press", "fetch_feed", &call(path, *items)) {
                assert!(is_in_hull(path, &approved) && *items < 4, "{path} {items}\n{proposal}");
            }
            assert!(!judge.approves("sales", "fetch_feed", &call(path, *items)));
        }
    }
}
