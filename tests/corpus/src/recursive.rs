//! Recursive types.

use llm_do::data;
use proptest::prelude::*;

use crate::{arbitrary, made};

/// A tree.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    label: String,
    /// The subtrees.
    children: Vec<Tree>,
}
arbitrary!(
    Tree = made(|(label,)| Tree { label, children: Vec::new() }).prop_recursive(3, 12, 3, |tree| {
        (any::<String>(), prop::collection::vec(tree, 0..3)).prop_map(|(label, children)| Tree { label, children })
    })
);

/// A chain.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Link {
    weight: u8,
    next: Option<Box<Link>>,
}
arbitrary!(
    Link = made(|(weight,)| Link { weight, next: None }).prop_recursive(4, 4, 1, |link| {
        (any::<u8>(), link).prop_map(|(weight, next)| Link { weight, next: Some(Box::new(next)) })
    })
);

/// A sum whose terms are sums.
#[data]
#[derive(Clone, Debug)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Term {
    Number(i32),
    Negative(Box<Term>),
    Sum { terms: Vec<Term> },
}
arbitrary!(
    Term = made(|(number,)| Term::Number(number)).prop_recursive(3, 12, 3, |term| {
        prop_oneof![
            term.clone().prop_map(|term| Term::Negative(Box::new(term))),
            prop::collection::vec(term, 0..3).prop_map(|terms| Term::Sum { terms }),
        ]
    })
);

/// A folder of files, which link to folders.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    files: Vec<File>,
}
arbitrary!(Folder = prop::collection::vec(any::<File>(), 0..3).prop_map(|files| Folder { files }));

/// A file of a folder.
#[data]
#[derive(Clone, Debug)]
pub(crate) struct File {
    name: String,
    link: Option<Box<Folder>>,
}
arbitrary!(
    File = made(|(name,)| File { name, link: None }).prop_recursive(3, 8, 2, |file| {
        (any::<String>(), prop::collection::vec(file, 0..2))
            .prop_map(|(name, files)| File { name, link: Some(Box::new(Folder { files })) })
    })
);
