//! Tables of capabilities as files.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::table::{Api, Capabilities, CapabilityEntry, CapabilityTable, CapabilityTableError, PROVIDERS, Row};
use super::version::{Version, VersionRange};
use super::window::WindowRow;
use crate::model_pattern::{ModelPattern, is_day};

/// The built-in table.
pub(super) const BUILTIN: &str = include_str!("../../capabilities.json");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    date: String,
    models: Vec<Value>,
    #[serde(default)]
    windows: Vec<Value>,
}

/// One row of a file, for all models that it names.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRow {
    provider: String,
    models: Vec<String>,
    from: Option<Version>,
    to: Option<Version>,
    takes: Value,
    source: Option<String>,
    seen: Option<String>,
}

/// Reads a table.
pub(super) fn read(json: &str) -> Result<CapabilityTable, CapabilityTableError> {
    let fault = |error| CapabilityTableError::new(format!("invalid capability table: {error}"));
    let File { date, models, windows } = serde_json::from_str(json).map_err(fault)?;
    check_day("date", &date).map_err(CapabilityTableError::new)?;
    let mut rows = Vec::with_capacity(models.len());
    for (index, row) in models.into_iter().enumerate() {
        rows.extend(
            FileRow::read(row).map_err(|fault| CapabilityTableError::new(format!("row {}: {fault}", index + 1)))?,
        );
    }
    let mut read = Vec::with_capacity(windows.len());
    for (index, row) in windows.into_iter().enumerate() {
        let fault = |fault| CapabilityTableError::new(format!("row {} of `windows`: {fault}", index + 1));
        read.extend(WindowRow::read(row).map_err(fault)?);
    }
    Ok(CapabilityTable::new(date, rows, read))
}

/// Reads what the models support that `pattern`, `provider:model`, matches.
pub(super) fn row(pattern: &str, takes: Value) -> Result<Row, CapabilityTableError> {
    let split = pattern.split_once(':').filter(|(provider, model)| !provider.is_empty() && !model.is_empty());
    let Some((provider, model)) = split else {
        return Err(CapabilityTableError::new(format!("invalid model name `{pattern}`: expected `provider:model`")));
    };
    let (provider, models) = (provider.to_owned(), vec![model.to_owned()]);
    let row = FileRow { provider, models, from: None, to: None, takes, source: None, seen: None };
    let capabilities =
        row.capabilities().map_err(|fault| CapabilityTableError::new(format!("`{pattern}`: {fault}")))?;
    Ok(row.for_model(model, capabilities))
}

impl FileRow {
    fn read(row: Value) -> Result<Vec<Row>, String> {
        let row: Self = Self::deserialize(row).map_err(|error| error.to_string())?;
        if row.models.is_empty() || row.models.iter().any(String::is_empty) {
            return Err("`models` needs at least one name, and no empty one".to_owned());
        }
        if let Some(seen) = &row.seen {
            check_day("seen", seen)?;
        }
        let named = |fault| format!("`{}:{}`: {fault}", row.provider, row.models.join("`, `"));
        let capabilities = row.capabilities().map_err(named)?;
        Ok(row.models.iter().map(|model| row.for_model(model, capabilities.clone())).collect())
    }

    fn capabilities(&self) -> Result<Capabilities, String> {
        let Some((_, api)) = PROVIDERS.into_iter().find(|(known, _)| *known == self.provider) else {
            let known = PROVIDERS.map(|(known, _)| format!("`{known}`")).join(", ");
            return Err(format!("unknown provider `{}`; expected one of {known}", self.provider));
        };
        let takes = match api {
            Api::Anthropic => {
                Deserialize::deserialize(&self.takes).map(|takes| Capabilities::Anthropic(Arc::new(takes)))
            }
            Api::Gemini => Deserialize::deserialize(&self.takes).map(|takes| Capabilities::Gemini(Arc::new(takes))),
            Api::OpenAi => Deserialize::deserialize(&self.takes).map(|takes| Capabilities::OpenAi(Arc::new(takes))),
        };
        takes.map_err(|error| format!("`takes`: {error}"))
    }

    fn for_model(&self, model: &str, capabilities: Capabilities) -> Row {
        let Self { provider, from, to, takes, source, seen, .. } = self;
        let model = format!("{provider}:{model}");
        Row {
            pattern: ModelPattern::new(&model.to_ascii_lowercase()),
            versions: VersionRange { from: *from, to: *to },
            capabilities,
            entry: CapabilityEntry {
                model,
                from: from.map(|version| version.to_string()),
                to: to.map(|version| version.to_string()),
                takes: takes.clone(),
                source: source.clone(),
                seen: seen.clone(),
            },
        }
    }
}

fn check_day(key: &str, day: &str) -> Result<(), String> {
    if is_day(day) { Ok(()) } else { Err(format!("invalid `{key}` `{day}`: expected a day such as `2026-11-22`")) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::read;

    fn fault(table: &Value) -> String {
        read(&table.to_string()).unwrap_err().to_string()
    }

    fn with(key: &str, value: &Value) -> Value {
        let mut row = json!({"provider": "openai", "models": ["ours-*"], "takes": {"stop": false}});
        row[key] = value.clone();
        let first = json!({"provider": "gemini", "models": ["a"], "takes": {}});
        json!({"date": "2026-01-01", "models": [first, row]})
    }

    #[test]
    fn a_fault_of_a_table_names_its_row_and_the_key() {
        let budget = json!({"thinking": {"budget": {"min": 1, "max": 2, "cap": 3}}});
        let faults = [
            ("provider", json!("lab"), "row 2: `lab:ours-*`: unknown provider `lab`; expected one of `anthropic`"),
            ("provider", json!("gemini"), "row 2: `gemini:ours-*`: `takes`: unknown field `stop`, expected one of"),
            ("models", json!([]), "row 2: `models` needs at least one name"),
            ("models", json!([""]), "row 2: `models` needs at least one name"),
            ("colour", json!(1), "row 2: unknown field `colour`, expected one of `provider`"),
            ("from", json!("new"), "row 2: invalid version `new`: expected a text such as `4` or `4.5`"),
            ("seen", json!("today"), "row 2: invalid `seen` `today`: expected a day"),
            ("takes", json!({"stop": 1}), "row 2: `openai:ours-*`: `takes`: invalid type: integer `1`"),
            ("takes", json!({"stops": true}), "`takes`: unknown field `stops`, expected one of `thinking`"),
            ("takes", json!({"thinking": "no"}), "`takes`: unknown variant `no`, expected one of `unknown`, `never`"),
            ("takes", json!({"efforts": {"max": "max"}}), "unknown field `max`, expected one of `off`"),
            (
                "takes",
                json!({"server_side_tools": ["fly"]}),
                "unknown server-side tool `fly`; expected one of `web_search`",
            ),
        ];
        for (key, value, text) in faults {
            let fault = fault(&with(key, &value));
            assert!(fault.contains(text), "{fault}");
        }
        let mut gemini = with("provider", &json!("gemini"));
        gemini["models"][1]["takes"] = budget;
        assert!(fault(&gemini).contains("unknown field `cap`"), "{}", fault(&gemini));
        assert!(fault(&json!({"models": []})).contains("missing field `date`"));
        assert!(fault(&json!({"date": "today", "models": []})).contains("invalid `date` `today`: expected a day"));
        let windows = |row: Value| json!({"date": "2026-01-01", "models": [], "windows": [row]});
        let faults = [
            (json!({"provider": "openai", "models": ["a"]}), "row 1 of `windows`: missing field `context_window`"),
            (json!({"provider": "openai", "models": [], "context_window": 9}), "`models` needs at least one name"),
            (
                json!({"provider": "lab", "models": ["a"], "context_window": 9}),
                "unknown provider `lab`; expected one of",
            ),
            (
                json!({"provider": "openai", "models": ["a"], "context_window": 0}),
                "`openai:a`: a window has at least 1",
            ),
            (
                json!({"provider": "openai", "models": ["a"], "context_window": 9, "seen": "today"}),
                "invalid `seen` `today`: expected a day",
            ),
        ];
        for (row, text) in faults {
            let fault = fault(&windows(row));
            assert!(fault.contains(text), "{fault}");
        }
        assert!(read("{").unwrap_err().to_string().contains("line 1"));
    }
}
