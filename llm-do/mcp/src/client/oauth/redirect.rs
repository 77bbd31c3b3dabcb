//! The redirect after a login.

use reqwest::Url;
use subtle::ConstantTimeEq;

use super::text;

/// The maximum length of an error of an authorization server that is shown, in characters.
const MAX_ERROR: usize = 300;
/// The maximum length of one that is shown with advice, in characters.
const MAX_REASON: usize = 150;
/// How the library begins the reason, once or twice.
const NESTED: [&str; 2] = ["Dynamic registration failed: ", "Registration failed: "];

/// Checks that a redirect is the answer to this login, and that it succeeded.
pub(super) fn check_redirect(login: &Url, redirected: &str) -> Result<(), String> {
    let redirected: Url = redirected.parse().map_err(|_| "the redirect after the login is not a URL".to_owned())?;
    if !is_login_answer(login, &redirected) {
        return Err("the redirect is not the answer to this login: its `state` is another one".to_owned());
    }
    match first(&redirected, "error") {
        Some(error) => {
            let description = first(&redirected, "error_description").map(|text| format!(": {text}"));
            let text = format!("{error}{}", description.unwrap_or_default());
            Err(format!(
                "the authorization server refused the login: {}",
                text.chars().take(MAX_ERROR).collect::<String>()
            ))
        }
        None => Ok(()),
    }
}

/// Returns what the user can do where the authorization server does not register this program, for a reason.
pub(super) fn registration_advice(reason: &str, redirect_uri: &str) -> String {
    let reason = NESTED.iter().fold(reason, |reason, text| reason.strip_prefix(text).unwrap_or(reason));
    format!(
        "the authorization server does not register this program ({}): register it there with the redirect URI `{redirect_uri}`, \
         and set its client id, with `\"oauth\": {{ \"clientId\": \"..\", \"callbackPort\": .. }}` in `.mcp.json`, or with \
         `OAuth::client` in code",
        text::visible(reason, MAX_REASON)
    )
}

/// Returns whether a redirect has the state of the login page, which other pages do not know.
#[doc(hidden)]
#[must_use]
pub fn is_login_answer(login: &Url, redirected: &Url) -> bool {
    let states = login_state(login).zip(login_state(redirected));
    states.is_some_and(|(expected, given)| expected.as_bytes().ct_eq(given.as_bytes()).into())
}

/// Returns the state of a login page or of a redirect; `None` if it is missing, or is given twice.
#[doc(hidden)]
#[must_use]
pub fn login_state(url: &Url) -> Option<String> {
    let mut states = values(url, "state");
    states.next().filter(|_| states.next().is_none())
}

fn first(url: &Url, name: &str) -> Option<String> {
    values(url, name).next()
}

/// Returns the values of a parameter.
fn values(url: &Url, name: &str) -> impl Iterator<Item = String> {
    url.query_pairs().filter(move |(key, _)| key == name).map(|(_, value)| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str) -> Result<(), String> {
        let login = "https://login.example.com/authorize?client_id=c&state=s1%2B".parse().unwrap();
        check_redirect(&login, &format!("http://localhost:1/callback?{query}"))
    }

    #[test]
    fn only_a_redirect_with_the_state_of_the_login_is_its_answer() {
        check("code=c&state=s1%2B").unwrap();
        for query in
            ["code=c", "code=c&state=", "code=c&state=s1", "code=c&state=s1%2B&state=x", "code=c&state=x&state=s1%2B"]
        {
            assert!(check(query).unwrap_err().contains("`state`"), "{query}");
            assert!(check(&format!("{query}&error=access_denied")).unwrap_err().contains("`state`"), "{query}");
        }
    }

    #[test]
    fn an_error_is_shown_and_not_endless() {
        let fault = check("error=access_denied&error_description=not%20you&state=s1%2B").unwrap_err();
        assert_eq!(fault, "the authorization server refused the login: access_denied: not you");
        let fault = check(&format!("error={}&state=s1%2B", "x".repeat(100_000))).unwrap_err();
        assert!(fault.len() < 400, "{}", fault.len());
    }
}
