//! The redirect after a login.

use reqwest::Url;
use subtle::ConstantTimeEq;

/// The longest error of an authorization server that is shown, in characters.
const MAX_ERROR: usize = 300;

/// Checks that a redirect is the answer to this login, and that it succeeded.
pub(super) fn check_redirect(login: &Url, redirected: &str) -> Result<(), String> {
    let redirected: Url = redirected.parse().map_err(|_| "the redirect after the login is not a URL".to_owned())?;
    let (expected, given) = (only(login, "state"), only(&redirected, "state"));
    let is_answer =
        expected.zip(given).is_some_and(|(expected, given)| expected.as_bytes().ct_eq(given.as_bytes()).into());
    if !is_answer {
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

fn first(url: &Url, name: &str) -> Option<String> {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// Returns the value of a parameter that is given once.
fn only(url: &Url, name: &str) -> Option<String> {
    let mut values = url.query_pairs().filter(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    values.next().filter(|_| values.next().is_none())
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
