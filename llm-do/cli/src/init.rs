//! `init`: writes the files of a new project or application.

use std::io;
use std::path::Path;

use super::args::InitOptions;
use super::out_folder::OutFolder;
use super::{CommandError, print};

/// A path, and its text with `{name}` for the name of the folder.
type File = (&'static str, &'static str);

const PROJECT: [File; 3] = [
    ("main.worker", include_str!("../templates/main.worker")),
    ("AGENTS.md", include_str!("../templates/AGENTS.md")),
    ("project.json", include_str!("../templates/project.json")),
];

const APPLICATION: [File; 3] = [
    ("Cargo.toml", include_str!("../templates/Cargo.toml.txt")),
    ("src/main.rs", include_str!("../templates/main.rs")),
    (".gitignore", "/target\n"),
];

/// The next steps with a project.
const PROJECT_STEPS: &str = "  export LLM_DO_MODEL=openai:gpt-5-mini     any model: `provider:model`
  llm-do check
  llm-do run \"Which files are here?\"
  llm-do chat";

/// The next steps with an application.
const APPLICATION_STEPS: &str = "  export LLM_DO_MODEL=openai:gpt-5-mini     any model: `provider:model`
  cargo run -- check
  cargo run -- call shout --text hello
  cargo run -- run Ann";

/// Writes the files; if one exists, none is written.
pub(super) fn init(options: &InitOptions) -> Result<(), CommandError> {
    let (files, steps): (&[File], _) =
        if options.app { (&APPLICATION, APPLICATION_STEPS) } else { (&PROJECT, PROJECT_STEPS) };
    let folder = &options.folder;
    let existing: Vec<_> =
        files.iter().map(|(path, _)| folder.join(path)).filter(|path| path.symlink_metadata().is_ok()).collect();
    if !existing.is_empty() {
        let names: Vec<_> = existing.iter().map(|path| path.display().to_string()).collect();
        let text = format!("nothing is written, since files exist: {}; choose another folder", names.join(", "));
        return Err(CommandError::Error(text));
    }
    let name = name(folder);
    for (path, text) in files {
        let shown = folder.join(path);
        write(folder, path, &text.replace("{name}", &name))
            .map_err(|error| CommandError::Error(format!("cannot write {}: {error}", shown.display())))?;
        print(&shown.display().to_string())?;
    }
    let enter = if folder == Path::new(".") { String::new() } else { format!("\n  cd {}", quoted(folder)) };
    print(&format!("next:{enter}\n{steps}"))
}

/// Writes a file below a folder, which it creates.
fn write(folder: &Path, path: &str, text: &str) -> io::Result<()> {
    let folder = OutFolder::open(folder)?;
    match path.split_once('/') {
        Some((inner, name)) => folder.folder(inner)?.create(name, text),
        None => folder.create(path, text),
    }
}

/// Returns a path as a word of a shell.
fn quoted(folder: &Path) -> String {
    let text = folder.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-\\:".contains(letter);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Returns a name for the package of a folder: the name of the folder, with other characters replaced.
fn name(folder: &Path) -> String {
    let folder = folder.canonicalize().or_else(|_| std::path::absolute(folder)).unwrap_or_default();
    let name = folder.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let plain: String = name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    let plain = plain.trim_matches('-');
    // A package must begin with a letter.
    if plain.starts_with(|first: char| first.is_ascii_alphabetic()) {
        plain.to_owned()
    } else {
        format!("app-{plain}").trim_end_matches('-').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::name;

    #[test]
    fn the_name_of_a_package_is_made_from_that_of_its_folder() {
        for (folder, expected) in [("/x/My Notes", "my-notes"), ("/x/2nd", "app-2nd"), ("/x/été", "t"), ("/", "app")]
        {
            assert_eq!(name(Path::new(folder)), expected);
        }
    }
}
