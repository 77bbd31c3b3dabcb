//! The names of features, for people.

use super::{Encoder, Field, Names, Values};

impl Encoder {
    /// Returns the name of each row but that of the bias.
    pub(crate) fn names(&self) -> Names {
        let mut names = Names::new();
        names.extend(self.facts.sorted().into_iter().map(|(fact, row)| (row, self.name_of_fact(fact))));
        self.fields.iter().for_each(|field| field.add_names(&mut names));
        names
    }

    /// Ranges are written with the edges that they lie between.
    fn name_of_fact(&self, fact: &str) -> String {
        let name = |fact: &str| self.range_of(fact).unwrap_or_else(|| fact.to_owned());
        fact.split(" & ").map(name).collect::<Vec<_>>().join(" & ")
    }

    fn range_of(&self, fact: &str) -> Option<String> {
        let (path, number) = fact.rsplit_once(" in ")?;
        let field = self.fields.iter().find(|field| field.path == path)?;
        let Values::Number { edges, .. } = &field.values else { return None };
        let at: usize = number.parse().ok()?;
        let low = at.checked_sub(1).and_then(|at| edges.get(at));
        match (low, edges.get(at)) {
            (Some(low), Some(high)) => Some(format!("{low} <= {path} < {high}")),
            (Some(low), None) => Some(format!("{path} >= {low}")),
            (None, Some(high)) => Some(format!("{path} < {high}")),
            (None, None) => Some(format!("{path} present")),
        }
    }
}

impl Field {
    fn add_names(&self, names: &mut Names) {
        let path = &self.path;
        match &self.values {
            Values::Text { words, runs, .. } => {
                names.extend(words.sorted().into_iter().map(|(word, row)| (row, format!("{path} has \"{word}\""))));
                let run = |(run, row): (&str, u32)| (row, format!("{path} has the characters \"{run}\""));
                names.extend(runs.sorted().into_iter().map(run));
            }
            Values::Number { edges, first_row, .. } => {
                names.extend((*first_row..).zip(edges).map(|(row, edge)| (row, format!("{path} against {edge}"))));
            }
            Values::Choice | Values::LeftOut => {}
        }
    }
}
