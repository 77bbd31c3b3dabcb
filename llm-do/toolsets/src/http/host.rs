//! Patterns for hosts.

use reqwest::Url;

/// A host, with a port if it is not the default of the scheme: `docs.rs`, `*.example.com`, `localhost:8080`, `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostPattern {
    host: String,
    port: Option<u16>,
}

impl HostPattern {
    /// Parses a pattern; returns `None` if it is invalid.
    pub(super) fn parse(pattern: &str) -> Option<Self> {
        let (host, port) = match pattern.rsplit_once(':') {
            // The last group of an IPv6 address is not a port.
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port.parse().ok()?)),
            _ => (pattern, None),
        };
        let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
        let rest = host.strip_prefix("*.").unwrap_or(&host);
        let is_valid = host == "*" || (!rest.is_empty() && !rest.contains(['*', '/', '@', ' ']));
        is_valid.then_some(Self { host, port })
    }

    /// Returns whether a URL has this host and port.
    pub(super) fn matches(&self, url: &Url) -> bool {
        self.port == url.port() && self.matches_host(&name(url))
    }

    fn matches_host(&self, host: &str) -> bool {
        match self.host.strip_prefix('*') {
            Some("") => true,
            // The dot excludes `evil-example.com`.
            Some(suffix) => host.len() > suffix.len() && host.ends_with(suffix),
            None => self.host == host,
        }
    }
}

/// Returns the host of a URL, without brackets and without the final dot of a fully qualified name.
pub(super) fn name(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, url: &str) -> bool {
        HostPattern::parse(pattern).unwrap().matches(&Url::parse(url).unwrap())
    }

    #[test]
    fn a_pattern_matches_its_host_and_port_only() {
        assert!(matches("Docs.rs", "https://docs.rs/syn"));
        assert!(matches("docs.rs", "http://docs.rs./syn"));
        assert!(matches("docs.rs:8080", "https://docs.rs:8080/syn"));
        assert!(matches("[::1]:8080", "http://[::1]:8080/"));
        assert!(matches("::1", "http://[::1]/"));
        for url in ["https://docs.rs:8080/", "https://docs.rs.evil.com/", "https://evil-docs.rs/", "https://a.docs.rs/"]
        {
            assert!(!matches("docs.rs", url), "{url}");
        }
    }

    #[test]
    fn a_star_matches_all_hosts_or_the_hosts_below_one() {
        assert!(matches("*", "https://docs.rs/"));
        assert!(!matches("*", "https://docs.rs:8080/"));
        assert!(matches("*.example.com", "https://a.b.example.com/"));
        for url in ["https://example.com/", "https://evilexample.com/", "https://example.com.evil.org/"] {
            assert!(!matches("*.example.com", url), "{url}");
        }
    }

    #[test]
    fn an_invalid_pattern_is_refused() {
        for pattern in ["", "*.", "a*b.com", "https://docs.rs", "docs.rs/path", "user@docs.rs", "docs.rs:port", "*.*"] {
            assert_eq!(HostPattern::parse(pattern), None, "{pattern}");
        }
    }
}
