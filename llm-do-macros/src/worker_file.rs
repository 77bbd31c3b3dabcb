//! Worker files: front matter and instructions, read into the keys they give, each with its line.

mod bounds;
mod front_matter;
mod keys;
mod limits;
mod locate;
mod value;
mod yaml;

pub(crate) use self::keys::{At, Keys, Sampling, ServerSide};
pub(crate) use self::limits::Limits;
pub(crate) use self::locate::find;
pub(crate) use self::yaml::{Content, Node};

/// What a worker file says.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct WorkerFile {
    pub(crate) keys: Keys,
    /// The text below the front matter, without the blank lines around it.
    pub(crate) instructions: Option<At<String>>,
}

/// What is wrong with a worker file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The line, from 1.
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl Fault {
    fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

/// Reads a worker file; what is at fault is noted and left out.
pub(crate) fn read(text: &str, faults: &mut Vec<Fault>) -> WorkerFile {
    if text.len() > bounds::MAX_SIZE {
        let message = format!("a worker file has at most {} bytes; make it smaller", bounds::MAX_SIZE);
        faults.push(Fault::new(1, message));
        return WorkerFile::default();
    }
    let parts = match front_matter::split(text) {
        Ok(parts) => parts,
        Err(fault) => {
            faults.push(fault);
            return WorkerFile::default();
        }
    };
    let keys = match yaml::read(parts.yaml, parts.yaml_line) {
        Ok(node) => keys::read(node, faults),
        Err(fault) => {
            faults.push(fault);
            Keys::default()
        }
    };
    WorkerFile { keys, instructions: parts.instructions }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn faults(text: &str) -> Vec<String> {
        let mut faults = Vec::new();
        read(text, &mut faults);
        faults.into_iter().map(|Fault { line, message }| format!("{line}: {message}")).collect()
    }

    #[test]
    fn a_whole_file_is_read_with_its_lines() {
        let mut faults = Vec::new();
        let text = "---\nname: reviewer\nmodel: 'openai:x'\nmax_turns: 3\n---\n\nRead it.\n\nThen judge.\n";
        let file = read(text, &mut faults);
        assert_eq!(faults, []);
        assert_eq!(file.keys.name, Some(At { line: 2, value: "reviewer".to_owned() }));
        assert_eq!(file.keys.model, Some(At { line: 3, value: "openai:x".to_owned() }));
        assert_eq!(file.keys.max_turns, Some(At { line: 4, value: 3 }));
        assert_eq!(file.instructions, Some(At { line: 7, value: "Read it.\n\nThen judge.".to_owned() }));
    }

    #[test]
    fn every_fault_of_a_file_is_told_at_its_line() {
        let text = "---\nmodle: x\nname: [a]\nhints: one\nmax_turns: 0\nretries: -1\noutput: nativ\n\
                    toolsets: [read_file, 3]\nserver_side_tools: [web_serch]\nsettings: {top: 1, seed: x}\n---\n";
        let told = faults(text);
        let expected = [
            "2: unknown key `modle`; did you mean `model`?",
            "3: `name` takes a text, not a list",
            "4: `hints` takes a list of texts, not a text",
            "5: `max_turns` is 0: a worker's model is asked once or more",
            "6: `retries` takes a whole number from 0, not a number such as -1",
            "7: unknown output mode `nativ`; did you mean `native`?",
            "8: `toolsets` lists texts, not a number",
            "9: unknown server-side tool `web_serch`; did you mean `web_search`?",
            "10: unknown key `top` of `settings`; did you mean `top_p`?",
            "10: `seed` takes a whole number from 0, not a text",
        ];
        assert_eq!(told.len(), expected.len(), "{told:#?}");
        for (told, expected) in told.iter().zip(expected) {
            assert!(told.starts_with(expected), "{told}");
        }
    }

    #[test]
    fn a_model_and_the_models_that_it_may_be_exclude_each_other() {
        for text in
            ["---\nmodel: a:b\ncompatible_models: ['*']\n---\n", "---\n\ncompatible_models: ['*']\nmodel: a:b\n---\n"]
        {
            assert_eq!(faults(text), [format!("3: {}", crate::args::worker::ONE_CHOICE)]);
        }
    }

    #[test]
    fn a_model_without_a_provider_is_told_at_its_line() {
        for name in ["gpt-5", ":gpt-5", "openai:", "''"] {
            let told = faults(&format!("---\ndescription: Judge.\nmodel: \"{name}\"\n---\n"));
            let expected = format!("3: invalid model name `{name}`: expected `provider:model`, such as `openai:gpt-5`");
            assert_eq!(told, [expected]);
        }
    }

    #[test]
    fn tools_are_listed_once_and_only_a_search_has_settings() {
        let told = faults(
            "---\nserver_side_tools:\n- web_fetch\n- web_fetch\n- {tool_type: web_fetch, max_uses: 2}\n- 4\n\
             - {tool_type: web_search, allowed_domains: [], max_uses: x}\ntoolsets: [a, a]\ncompatible_models: []\n---\n",
        );
        let expected = [
            "4: `web_fetch` listed twice",
            "5: `web_fetch` has no settings such as `max_uses`",
            "6: `server_side_tools` lists tools, not a number",
            "7: `allowed_domains` is an empty list; leave it out",
            "7: `max_uses` takes a whole number from 0, not a text",
            "8: `toolsets` lists `a` twice",
            "9: `compatible_models` is an empty list; leave it out",
        ];
        assert_eq!(told.len(), expected.len(), "{told:#?}");
        for (told, expected) in told.iter().zip(expected) {
            assert!(told.starts_with(expected), "{told}");
        }
    }

    #[test]
    fn limits_and_times_are_read_as_the_runtime_reads_them() {
        let read_limits = |limits: &str| {
            let mut faults = Vec::new();
            let file = read(&format!("---\nlimits: {limits}\n---\n"), &mut faults);
            assert_eq!(faults, [], "{limits}");
            file.keys.limits.unwrap().value
        };
        for (cost, picodollars) in [("2", 2_000_000_000_000), ("0.25", 250_000_000_000), ("1e-7", 100_000)] {
            assert_eq!(read_limits(&format!("{{ cost: {cost} }}")).cost, Some(picodollars), "{cost}");
        }
        assert_eq!(read_limits("{ cost: \"$0.000000000001\" }").cost, Some(1));
        for (time, millis) in [("90", 90_000), ("0.5", 500), ("1h 30m", 5_400_000)] {
            assert_eq!(read_limits(&format!("{{ wall_time: {time} }}")).wall_time, Some(Duration::from_millis(millis)));
        }
        assert_eq!(read_limits("{ requests: 3, tool_calls: 0 }").counts, [("requests", 3), ("tool_calls", 0)]);
        assert_eq!(read_limits("{ allow_unpriced: false }").allow_unpriced, Some(false));
    }

    #[test]
    fn what_is_no_limit_and_no_time_is_told_at_its_line() {
        let told = faults(
            "---\nlimits:\n  request: 3\n  requests: -1\n  cost: much\n  allow_unpriced: 1\n  wall_time: soon\n  \
             total_tokens: 1.5\ntimeout: 0\n---\n",
        );
        let expected = [
            "3: unknown key `request` of `limits`; did you mean `requests`?",
            "4: `requests` takes a whole number from 0, not a number such as -1",
            "5: `cost` takes an amount of dollars such as 0.25",
            "6: `allow_unpriced` takes `true` or `false`, not a number",
            "7: `wall_time`: invalid duration `soon`: expected numbers with units",
            "8: `total_tokens` takes a whole number from 0, not a number",
            "9: `timeout` is 0",
        ];
        assert_eq!(told.len(), expected.len(), "{told:#?}");
        for (told, expected) in told.iter().zip(expected) {
            assert!(told.starts_with(expected), "{told}");
        }
        assert_eq!(faults("---\nlimits: 3\n---\n"), ["2: `limits` takes a map, not a number"]);
        let times =
            [("-1", "a number of seconds from 0"), ("[1s]", "a time such as `30s`, or a number of seconds, not a")];
        for (time, expected) in times {
            let told = faults(&format!("---\ntimeout: {time}\n---\n"));
            assert!(told[0].contains(expected), "{told:?}");
        }
    }

    #[test]
    fn an_error_of_yaml_is_told_at_its_line_in_the_file() {
        let told = faults("\n---\nname: a\nmodel: [b\n---\nText.");
        assert!(told[0].starts_with("4: ") || told[0].starts_with("5: "), "{told:?}");
        let told = faults("---\nname: a\nname: b\n---\n");
        assert!(told[0].starts_with("3: ") && told[0].contains("duplicated key"), "{told:?}");
        assert_eq!(faults("---\n- a\n---\n"), ["2: the front matter is a list; expected `key: value` lines"]);
    }

    #[test]
    fn a_file_beyond_the_limits_is_refused() {
        let large = format!("---\n---\n{}", "x".repeat(bounds::MAX_SIZE));
        let deep = format!("---\nhints: {}\n---\n", "[".repeat(200));
        for (text, line, message) in [(large, 1, "at most 1048576 bytes"), (deep, 2, "nested deeper than 100 levels")] {
            let mut faults = Vec::new();
            read(&text, &mut faults);
            assert!(faults[0].line == line && faults[0].message.contains(message), "{faults:?}");
        }
    }
}
