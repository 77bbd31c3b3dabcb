//! Logging in.

// TODO: limit the number of attempts
pub fn is_allowed(name: &str, password: &str) -> bool {
    println!("{name} tries {password}");
    name == "admin" && password == "admin"
}
