//! The tools, once for each root.

/// Defines the tools of one root: `$files` is the type of which they are methods.
macro_rules! tools {
    (
        $(#[$doc:meta])*
        $files:ident($toolset:literal), $open:ident,
        $read:literal, $write:literal, $edit:literal, $list:literal, $search:literal, $move:literal, $delete:literal
    ) => {
        use super::edit::{self, Edit};
        use super::fault::Fault;
        use super::files::Files;
        use super::list::{self, Listing};
        use super::read::{self, LineRange};
        use super::search::{self, Query};
        use super::{transfer, write};
        use crate::base::error::Result;
        use crate::plane::context::CallContext;
        use crate::plane::instance::{Opened, TypeKey};

        $(#[$doc])*
        #[derive(Debug)]
        pub struct $files(Files);

        $(#[$doc])*
        #[llm_do_macros::tool(name = $toolset)]
        impl $files {
            fn open(ctx: &CallContext) -> Self {
                Self(Files::$open(ctx))
            }

            /// Read a text file. Each line is returned with its number, unless `raw` is set.
            #[tool(name = $read, effect = read_only, summary = "read {path}")]
            pub fn read_file(
                &self,
                /// The path, relative to the root folder.
                path: &str,
                /// The first line to read, 1-based.
                #[arg(default = 1)]
                #[schemars(range(min = 1))]
                offset: u32,
                /// The maximum number of lines. Default: limited by `max_chars` only.
                #[schemars(range(min = 1))]
                limit: Option<u32>,
                /// The maximum number of characters.
                #[arg(default = 20_000)]
                #[schemars(range(min = 1, max = 200_000))]
                max_chars: u32,
                /// The first character to read in the first line, 1-based; use it for lines longer than `max_chars`.
                #[arg(default = 1)]
                #[schemars(range(min = 1))]
                column: u32,
                /// Whether to return the text alone, for code that processes it. A text longer than `max_chars` is then an error.
                #[arg(default)]
                raw: bool,
            ) -> Result<String> {
                Ok(read::read(self.0.root()?, path, LineRange { offset, limit, column, max_chars, raw })?)
            }

            /// Create a text file, or replace all of its content. Missing folders are created.
            #[tool(name = $write, effect = idempotent, summary = "write {path}", preview = preview_write)]
            pub fn write_file(
                &self,
                /// The path, relative to the root folder.
                path: &str,
                /// The whole content.
                content: &str,
            ) -> Result<String> {
                Ok(write::write(self.0.root()?, path, content)?)
            }

            /// Replace a text in a file by another. The text must occur exactly once, unless `replace_all` is set.
            #[tool(name = $edit, summary = "edit {path}", preview = preview_edit)]
            pub fn edit_file(
                &self,
                /// The path, relative to the root folder.
                path: &str,
                /// The text to replace, exactly as in the file, without line numbers.
                old_text: &str,
                /// The text to put in its place.
                new_text: &str,
                /// Whether to replace every occurrence.
                #[arg(default)]
                replace_all: bool,
            ) -> Result<String> {
                let edit = Edit { old: old_text, new: new_text, all: replace_all };
                Ok(edit::edit(self.0.root()?, path, edit)?)
            }

            /// List the files below a folder, in the order of their paths. Each path is relative to the root folder.
            #[tool(name = $list, effect = read_only, summary = "list the files in {path}")]
            pub fn list_files(
                &self,
                /// The folder, relative to the root folder.
                #[arg(default = ".")]
                path: &str,
                /// A glob for paths relative to `path`, such as `*.md` in the folder or `**/*.rs` at any depth. Default: all files.
                pattern: Option<String>,
                /// Whether to list files that `.gitignore` and `.ignore` files exclude.
                #[arg(default)]
                include_ignored: bool,
                /// How many files to skip.
                #[arg(default)]
                offset: u32,
                /// The maximum number of files.
                #[arg(default = 500)]
                #[schemars(range(min = 1, max = 5_000))]
                limit: u32,
            ) -> Result<String> {
                let pattern = pattern.as_deref();
                Ok(list::list(self.0.root()?, Listing { path, pattern, include_ignored, offset, limit })?)
            }

            /// Search text files for a regular expression, line by line. Matching lines are returned with their numbers.
            #[tool(name = $search, effect = read_only, summary = "search {path} for {regex}")]
            #[allow(clippy::too_many_arguments)]
            pub fn search_files(
                &self,
                /// The regular expression, in the syntax of the Rust crate `regex`; it matches within one line.
                regex: &str,
                /// The folder or file, relative to the root folder.
                #[arg(default = ".")]
                path: &str,
                /// A glob for paths relative to `path`, such as `**/*.rs`. Default: all files.
                pattern: Option<String>,
                /// Whether upper and lower case are equal.
                #[arg(default)]
                ignore_case: bool,
                /// Whether to search files that `.gitignore` and `.ignore` files exclude.
                #[arg(default)]
                include_ignored: bool,
                /// The number of lines to return before and after each match.
                #[arg(default)]
                #[schemars(range(max = 20))]
                context: u32,
                /// How many matches to skip.
                #[arg(default)]
                offset: u32,
                /// The maximum number of matches.
                #[arg(default = 100)]
                #[schemars(range(min = 1, max = 1_000))]
                limit: u32,
            ) -> Result<String> {
                let pattern = pattern.as_deref();
                let query = Query { regex, path, pattern, ignore_case, include_ignored, context, offset, limit };
                Ok(search::search(self.0.root()?, query)?)
            }

            /// Move or rename a file. Missing folders are created; an existing file is not replaced.
            #[tool(name = $move, summary = "move {from} to {to}", preview = preview_move)]
            pub fn move_file(
                &self,
                /// The path of the file, relative to the root folder.
                from: &str,
                /// The new path, relative to the root folder.
                to: &str,
            ) -> Result<String> {
                Ok(transfer::rename(self.0.root()?, from, to)?)
            }

            /// Delete a file.
            #[tool(name = $delete, effect = destructive, summary = "delete {path}", preview = preview_delete)]
            pub fn delete_file(
                &self,
                /// The path, relative to the root folder.
                path: &str,
            ) -> Result<String> {
                Ok(transfer::delete(self.0.root()?, path)?)
            }
        }

        /// Shows a call to the approver, with the files of its caller, if the caller declares the toolset.
        fn shown(ctx: &CallContext, show: impl FnOnce(&Files) -> Result<String, Fault>) -> Result<String> {
            let key = TypeKey::of::<$files>(ctx.instance());
            let callers = ctx.caller().and_then(|caller| caller.frame().instances.get(key));
            match callers.and_then(Opened::slot::<$files>) {
                Some(files) => Ok(show(&files.value().0)?),
                None => Ok(show(&Files::$open(ctx))?),
            }
        }

        fn preview_write(ctx: &CallContext, call: &write_file) -> Result<String> {
            shown(ctx, |files| write::preview(files.root()?, &call.path, &call.content))
        }

        fn preview_edit(ctx: &CallContext, call: &edit_file) -> Result<String> {
            let edit = Edit { old: &call.old_text, new: &call.new_text, all: call.replace_all };
            shown(ctx, |files| edit::preview(files.root()?, &call.path, edit))
        }

        fn preview_move(ctx: &CallContext, call: &move_file) -> Result<String> {
            shown(ctx, |files| transfer::preview_rename(files.root()?, &call.from, &call.to))
        }

        fn preview_delete(ctx: &CallContext, call: &delete_file) -> Result<String> {
            shown(ctx, |files| transfer::preview_delete(files.root()?, &call.path))
        }
    };
}

pub(super) use tools;
