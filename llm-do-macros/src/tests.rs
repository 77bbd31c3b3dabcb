//! Compares expansions with `tests/snapshots/*.rs`; `UPDATE_EXPECT=1` updates those.

use std::fs;
use std::path::Path;

use expect_test::{ExpectFile, expect_file};
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::LitStr;

use crate::expand;

fn check(code: TokenStream, expected: &ExpectFile) {
    let file = syn::parse2(code).expect("an expansion is a list of items");
    expected.assert_eq(&prettyplease::unparse(&file));
}

#[test]
fn a_tool_with_every_form_of_argument() {
    let code = expand::tool(
        quote!(effect = read_only, timeout = "1m 500ms"),
        &quote! {
            /// Read a text file.
            ///
            /// Lines are numbered.
            #[must_use]
            pub fn read_file(
                /// Path relative to the root.
                path: &Path,
                #[arg(default = 20_000)] mut max_chars: usize,
                #[arg(default = "utf-8", rename = "charset")] encoding: String,
                #[arg(description = "Only these lines.")]
                #[schemars(length(max = 2))]
                lines: Option<Vec<u32>>,
                r#type: &str,
                tags: &[String],
            ) -> std::io::Result<String> {
                body(path)
            }
        },
    );
    check(code, &expect_file!["../tests/snapshots/tool_arguments.rs"]);
}

#[test]
fn a_tool_with_optional_arguments_only() {
    let code = expand::tool(
        quote!(inline, name = "list-files", args = ListFiles),
        &quote! {
            /// List files.
            #[cfg(unix)]
            fn list_files(#[arg(default = ".")] root: PathBuf, limit: Option<u32>) {}
        },
    );
    check(code, &expect_file!["../tests/snapshots/tool_defaults.rs"]);
}

#[test]
fn an_async_tool_with_a_context_and_state() {
    let code = expand::tool(
        quote!(),
        &quote! {
            /// Count rows.
            async fn count(
                ctx: &dyn ToolContext,
                table: String,
                db: State<Database>,
                #[ctx] clock: &Clock,
            ) -> Result<u64> {
                db.count(table).await
            }
        },
    );
    check(code, &expect_file!["../tests/snapshots/tool_injected.rs"]);
}

#[test]
fn an_entry_with_toolsets() {
    let code = expand::entry(
        quote!(toolsets = [reviewer, files::read_file, "by_name"]),
        &quote! {
            async fn review_all(ctx: &CallContext<review_all>, paths: Vec<PathBuf>) -> Result<Vec<Review>> {
                all(ctx, paths).await
            }
        },
    );
    check(code, &expect_file!["../tests/snapshots/entry.rs"]);
}

/// Expands a tool with these keys and two members.
fn with_members(keys: &TokenStream) -> String {
    let item = quote! {
        /// Report.
        fn report() {}
    };
    expand::tool(quote!(#keys toolsets = [read, files.except([write])]), &item).to_string()
}

#[test]
fn a_declared_effect_is_compared_with_each_member() {
    let code = with_members(&quote!(effect = idempotent,));
    for member in [quote!(read), quote!(__llm_do::Except<files, write>)] {
        let found = quote!(<__llm_do::EffectProbe<#member, __llm_do::EightWorkers>>::STRONGEST);
        let check = quote!(__llm_do::assert_effect("report", __llm_do::Effect::Idempotent, #found));
        assert!(code.contains(&check.to_string()), "{check} in {code}");
    }
    for keys in [quote!(), quote!(effect = destructive,)] {
        assert!(!with_members(&keys).contains("assert_effect"), "nothing is stronger");
    }
}

#[test]
fn the_type_of_errors_is_the_one_that_the_attribute_names() {
    let item = quote! {
        /// Pay.
        fn pay() -> Result<u8> {}
    };
    for expand in [expand::tool, expand::entry] {
        let code = expand(quote!(error = crate::Refused), &item).to_string();
        let named = quote!(__llm_do::ErrorType::for_error::<crate::Refused>());
        assert!(code.contains(&named.to_string()), "{named} in {code}");
        assert!(code.contains("assert_fallible") && !code.contains("ErrorProbe"), "{code}");
    }
}

#[test]
fn a_worker() {
    let code = expand::worker(
        quote!(
            model = "anthropic:claude-sonnet-4-5",
            instructions = include_str!("reviewer.md"),
            toolsets = [read_file],
            max_turns = 8,
            retries = 1
        ),
        &quote! {
            /// Review one file.
            pub async fn reviewer(
                /// File to review.
                path: PathBuf,
            ) -> Review;
        },
    );
    check(code, &expect_file!["../tests/snapshots/worker.rs"]);
}

#[test]
fn a_worker_with_every_key_about_its_model() {
    let code = expand::worker(
        quote!(
            server_side_tools = [
                web_search(max_uses = 3, allowed_domains = ["docs.rs"], blocked_domains = ["example.org"]),
                code_execution
            ],
            compatible_models = ["anthropic:*"],
            settings = Settings::new().temperature(0.2),
            hints = ["code review", "Rust"],
            output = prompted,
            max_turns = LIMIT,
            limits = Limits::new().requests(10),
            timeout = Duration::from_secs(90)
        ),
        &quote! {
            /// Review one file.
            pub async fn reviewer(path: PathBuf) -> Review;
        },
    );
    check(code, &expect_file!["../tests/snapshots/worker_keys.rs"]);
}

#[test]
fn a_worker_whose_instructions_a_function_computes() {
    let code = expand::worker(
        quote!(instructions_with = personas::strict),
        &quote! {
            /// Review one file.
            pub async fn reviewer(path: PathBuf) -> Review;
        },
    );
    check(code, &expect_file!["../tests/snapshots/worker_instructions.rs"]);
}

#[test]
fn a_worker_in_code_mode() {
    let code = expand::worker(
        quote!(toolsets = [read_file], code = true),
        &quote! {
            /// Review one file.
            async fn reviewer(path: PathBuf) -> Review;
        },
    );
    check(code, &expect_file!["../tests/snapshots/worker_code.rs"]);
}

#[test]
fn a_worker_from_a_file() {
    let code = expand::worker(
        quote!(file = "../tests/files/reviewer.worker", retries = 1),
        &quote!(
            async fn reviewer(path: PathBuf, #[arg(default)] depth: u8, lines: Option<u32>) -> Result<Review>;
        ),
    );
    // The expansion contains the absolute path of the file.
    let code = code.to_string().replace(env!("CARGO_MANIFEST_DIR"), "CRATE");
    check(code.parse().unwrap(), &expect_file!["../tests/snapshots/worker_file.rs"]);
}

#[test]
fn without_a_source_path_a_worker_is_expanded_without_its_file() {
    let item = quote!(
        async fn reviewer(path: PathBuf) -> Review;
    );
    let code = expand::worker(quote!(file = "missing.worker", model = "test:a"), &item).to_string();
    assert!(!code.contains("compile_error") && !code.contains("include_str"), "{code}");
    assert!(code.contains("\"test:a\""), "{code}");
}

#[test]
fn an_input_schema_can_have_the_properties_of_a_flattened_struct() {
    let expanded = |item| expand::worker(quote!(file = "../tests/files/reviewer.worker"), &item).to_string();
    let code = expanded(quote!(
        async fn reviewer(#[arg(flatten)] range: Range, path: PathBuf) -> Review;
    ));
    assert!(!code.contains("compile_error"), "{code}");
    let code = expanded(quote!(
        async fn reviewer(#[arg(flatten)] range: Range, place: PathBuf) -> Review;
    ));
    assert!(code.contains("compile_error") && code.contains("`place`"), "{code}");
}

#[test]
fn a_worker_from_an_invalid_file() {
    let code = expand::worker(
        quote!(file = "../tests/files/faulty.worker", model = "test:a"),
        &quote!(
            async fn reviewer(path: PathBuf) -> Review;
        ),
    );
    check(code, &expect_file!["../tests/snapshots/worker_file_faults.rs"]);
}

/// The files of the reader's corpus, by their names in an attribute.
fn corpus(folder: &str) -> Vec<String> {
    let relative = format!("../worker-file/corpus/{folder}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(&relative);
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<_> = names.filter(|name| name.ends_with(".worker")).collect();
    files.sort();
    files.into_iter().map(|name| format!("{relative}/{name}")).collect()
}

/// Expands a worker of a file; returns the texts of all `compile_error!`.
fn errors_of(file: &str) -> Vec<String> {
    let item = quote!(
        /// Review a text.
        async fn review(input: String) -> u8;
    );
    let tokens: Vec<TokenTree> = expand::worker(quote!(file = #file), &item).into_iter().collect();
    let error = |three: &[TokenTree]| match three {
        [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Group(text)] if name == "compile_error" => {
            Some(syn::parse2::<LitStr>(text.stream()).unwrap().value())
        }
        _ => None,
    };
    tokens.windows(3).filter_map(error).collect()
}

#[test]
fn the_macro_accepts_every_file_that_the_reader_accepts() {
    let files = corpus("accepted");
    assert!(files.len() >= 6, "{files:?}");
    for file in files {
        assert_eq!(errors_of(&file), [""; 0], "{file}");
    }
}

#[test]
fn the_macro_reports_exactly_the_faults_that_the_reader_reports() {
    let files = corpus("rejected");
    assert!(files.len() >= 28, "{files:?}");
    for file in files {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(&file).with_extension("faults");
        let reported = errors_of(&file).into_iter().map(|error| error + "\n").collect::<String>();
        assert_eq!(reported.replace(&file, ""), fs::read_to_string(path).unwrap(), "{file}");
    }
}

#[test]
fn toolsets() {
    let code = expand::toolset(quote! {
        /// Files of the project.
        pub filesystem = [read_file, more::list_files];
        everything = [filesystem];
    });
    check(code, &expect_file!["../tests/snapshots/toolsets.rs"]);
}

#[cfg(feature = "mcp")]
#[test]
fn the_tools_of_a_server() {
    let code = expand::toolset(quote! {
        /// The tracker.
        pub tracker = mcp("../tests/files/tracker.mcp.json");
    });
    // The expansion contains the absolute path of the file.
    let code = code.to_string().replace(env!("CARGO_MANIFEST_DIR"), "CRATE");
    check(code.parse().unwrap(), &expect_file!["../tests/snapshots/mcp.rs"]);
}

#[cfg(feature = "mcp")]
#[test]
fn without_a_source_path_a_server_has_no_tools() {
    let code = expand::toolset(quote!(pub tracker = mcp("missing.mcp.json");)).to_string();
    assert!(code.contains("mod tracker") && !code.contains("compile_error"), "{code}");
}

#[cfg(not(feature = "mcp"))]
#[test]
fn without_the_feature_a_snapshot_is_an_error_that_names_it() {
    let code = expand::toolset(quote!(pub tracker = mcp("../tests/files/tracker.mcp.json");)).to_string();
    assert!(
        code.contains("mod tracker")
            && code.contains("needs the feature `mcp-snapshots` or `mcp` of the crate `llm-do`"),
        "{code}"
    );
}

#[test]
fn approval_and_a_summary() {
    let tool = expand::tool(
        quote!(approval = blocked("not here"), summary = "{{write}} {text} to {path}"),
        &quote! {
            /// Write a file.
            fn write(path: &str, #[arg(rename = "content")] text: String) {}
        },
    );
    let toolset = expand::toolset(quote! {
        pub files(approval = ask, on_unknown = report) = [write];
    });
    check(quote!(#tool #toolset), &expect_file!["../tests/snapshots/approval.rs"]);
}

#[test]
fn toolsets_with_forms_of_members() {
    let code = expand::toolset(quote! {
        formed = [prefixed("fs_", files.except([write, more::list])), read.only([read])];
    });
    check(code, &expect_file!["../tests/snapshots/toolset_forms.rs"]);
}

#[test]
fn an_invalid_tool() {
    let code = expand::tool(
        quote!(effects = read_only),
        &quote! {
            /// Greet.
            fn greet(#[arg(default = "you")] name: String, (a, b): (u8, u8)) -> String {
                name
            }
        },
    );
    check(code, &expect_file!["../tests/snapshots/tool_faults.rs"]);
}

#[test]
fn a_type_whose_methods_are_tools() {
    let code = expand::tool(
        quote!(name = "database"),
        &quote! {
            /// A database.
            impl Database {
                async fn open(ctx: &CallContext, url: State<Url>) -> Result<Self, Fault> {
                    connect(ctx, &url).await
                }

                /// Query a table.
                #[tool(effect = read_only)]
                pub fn query(&self, table: &str) -> Vec<Row> {
                    self.rows(table)
                }

                fn rows(&self, table: &str) -> Vec<Row> {
                    self.0.rows(table)
                }

                fn close(self) {}
            }
        },
    );
    check(code, &expect_file!["../tests/snapshots/stateful.rs"]);
}

#[test]
fn data_has_debug_by_default() {
    let item = quote!(
        struct Range {
            from: u32,
        }
    );
    let has_debug = |args| {
        let expanded = expand::data(&args, &item).to_string();
        // Before the scope of the partial fields, which always have it.
        expanded.split("const _").next().unwrap().contains(":: core :: fmt :: Debug")
    };
    assert!(has_debug(quote!()) && has_debug(quote!(debug = true)));
    assert!(!has_debug(quote!(debug = false)));
}

#[test]
fn data_names_its_fields_as_json_does() {
    let names = |item: TokenStream| {
        let code = expand::data(&quote!(), &item).to_string();
        let named = code.split("Partial :: field (partial , \"").skip(1);
        named.map(|rest| rest.split('"').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    for (rule, expected) in [
        ("camelCase", "longName"),
        ("PascalCase", "LongName"),
        ("snake_case", "long_name"),
        ("SCREAMING_SNAKE_CASE", "LONG_NAME"),
        ("kebab-case", "long-name"),
        ("SCREAMING-KEBAB-CASE", "LONG-NAME"),
    ] {
        let item = quote!(
            #[serde(rename_all = #rule)]
            struct Range {
                long_name: u32,
                #[serde(rename(serialize = "a", deserialize = "b"), default)]
                other: Vec<Self>,
                #[serde(flatten)]
                rest: Rest,
                #[serde(skip)]
                cache: u32,
            }
        );
        assert_eq!(names(item), [expected, "b"]);
    }
    assert!(
        names(quote!(
            struct Raw {
                r#type: u8,
            }
        )) == ["type"]
    );
    for item in [
        quote!(
            struct Pair(u8, u8);
        ),
        quote!(
            enum Level {
                Low { by: u8 },
            }
        ),
        quote!(
            struct Page<T> {
                items: Vec<T>,
            }
        ),
        quote!(
            #[serde(from = "u8")]
            struct Byte {
                byte: u8,
            }
        ),
        quote!(
            #[cfg_attr(test, serde(rename_all = "camelCase"))]
            struct Mixed {
                long_name: u8,
            }
        ),
    ] {
        assert_eq!(names(item), [""; 0]);
    }
}

#[test]
fn data_with_one_trait_derived_already() {
    let code = expand::data(
        &quote!(),
        &quote! {
            #[derive(Debug, serde::Deserialize)]
            pub struct Range {
                from: u32,
            }
        },
    );
    check(code, &expect_file!["../tests/snapshots/data_derived.rs"]);
}
