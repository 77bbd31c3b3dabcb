//! Suggestions for misspelled words.

/// Returns ``; did you mean `candidate`?`` for the most similar candidate; empty if none is similar.
///
/// ```
/// # use llm_do_worker_file::did_you_mean;
/// assert_eq!(did_you_mean("modle", ["name", "model"]), "; did you mean `model`?");
/// assert_eq!(did_you_mean("colour", ["name", "model"]), "");
/// ```
#[must_use]
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map(|candidate| format!("; did you mean `{candidate}`?")).unwrap_or_default()
}

/// The maximum length of compared words, in bytes: a comparison takes time proportional to the product of their
/// lengths.
const MAX_WORD: usize = 256;
/// The maximum sum of these products for one word; further candidates are not compared.
const MAX_WORK: usize = 1 << 20;

/// Returns the most similar candidate, if any is similar.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_WORD {
        return None;
    }
    let mut products = 0;
    let compared = candidates.into_iter().filter(|candidate| candidate.len() <= MAX_WORD);
    let compared = compared.take_while(|candidate| {
        products += word.len() * candidate.len();
        products <= MAX_WORK
    });
    let rated = compared.map(|candidate| (strsim::jaro_winkler(word, candidate), candidate));
    let nearest = rated.max_by(|one, other| one.0.total_cmp(&other.0));
    nearest.filter(|(similarity, _)| *similarity > 0.8).map(|(_, candidate)| candidate)
}
