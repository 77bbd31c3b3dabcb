//! The header `www-authenticate`, as far as the metadata that it names.

/// The parameter that names the metadata of a server (RFC 9728).
const PARAMETER: &str = "resource_metadata";

/// Returns each value of the parameter, of all challenges in a header.
pub(super) fn metadata_urls(header: &str) -> Vec<String> {
    let (mut urls, mut rest) = (Vec::new(), header);
    while !rest.is_empty() {
        let end = rest.find(['"', ',', ' ', '\t', '=']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let is_named = name.eq_ignore_ascii_case(PARAMETER);
        match after.trim_start().strip_prefix('=') {
            Some(value) if !name.is_empty() => {
                let (value, after) = value_of(value.trim_start());
                urls.extend(is_named.then_some(value));
                rest = after;
            }
            _ if after.starts_with('"') => rest = value_of(after).1,
            _ => rest = after.get(1..).unwrap_or_default(),
        }
    }
    urls
}

/// Splits a text into the value at its start, quoted or not, and the rest.
fn value_of(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = text.split_at(text.find([',', ' ', '\t']).unwrap_or(text.len()));
        return (value.to_owned(), rest);
    };
    let (mut value, mut characters) = (String::new(), quoted.chars());
    while let Some(character) = characters.next() {
        match character {
            '"' => break,
            '\\' => value.extend(characters.next()),
            character => value.push(character),
        }
    }
    (value, characters.as_str())
}

#[cfg(test)]
mod tests {
    use super::metadata_urls;

    #[test]
    fn the_metadata_that_a_header_names_are_found_in_each_form() {
        for (header, expected) in [
            ("", &[][..]),
            ("Bearer", &[]),
            ("Bearer resource_metadata=\"https://a/b\"", &["https://a/b"]),
            ("bearer RESOURCE_METADATA=https://a/b, scope=\"x\"", &["https://a/b"]),
            ("Bearer scope=\"a, b\" , resource_metadata =  \"/b\"", &["/b"]),
            ("Basic realm=\"a\\\"resource_metadata=c\", Bearer resource_metadata=\"d\\\"e\"", &["d\"e"]),
            ("Bearer resource_metadata=a, Bearer resource_metadata=b", &["a", "b"]),
            ("Bearer realm=\"resource_metadata=x\"", &[]),
            ("Bearer x_resource_metadata=\"x\", resource_metadata", &[]),
            ("Bearer resource_metadata=\"unclosed", &["unclosed"]),
            ("\"resource_metadata=a\"", &[]),
        ] {
            assert_eq!(metadata_urls(header), expected, "{header}");
        }
    }
}
