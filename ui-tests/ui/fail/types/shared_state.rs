//! Shared state is injected: a model cannot write a lock as an argument.

#![allow(unused)]

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use llm_do::{data, entry, tool, worker};

struct Shelf {
    books: Mutex<Vec<String>>,
}

/// Look at the shelf.
#[tool]
fn look(shelf: &Shelf) {}

/// Put a book on the shelf.
#[tool]
fn put(shelf: &mut Shelf, book: String) {}

/// Take a shelf.
#[tool]
fn take(shelf: Shelf) {}

/// Share in every way.
#[tool]
fn share(
    books: Mutex<Vec<String>>,
    hits: Arc<AtomicU64>,
    seen: &RwLock<u8>,
    many: Option<Vec<Arc<Mutex<u8>>>>,
    some: &[Cell<u8>],
    local: Rc<RefCell<u8>>,
    once: Box<OnceLock<u8>>,
) {
}

/// Starts with state.
#[entry]
async fn start(shelf: &Shelf, hits: AtomicU64) {}

/// Judge the shelf.
#[worker]
async fn judge(shelf: &Shelf) -> Mutex<u8>;

/// Judge the shelf deep inside.
#[worker]
async fn judge_deep(input: String) -> Vec<Arc<RwLock<u8>>>;

/// A shelf as data.
#[data]
struct Held {
    /// Its books.
    books: Mutex<Vec<String>>,
    /// Some more.
    more: Option<Arc<RwLock<u8>>>,
    name: String,
}

/// One or the other.
#[data]
enum Either {
    One(AtomicU64),
    Other { cell: Vec<Cell<u8>> },
}

#[derive(Default)]
struct Library;

/// A library.
#[tool]
impl Library {
    /// Borrow a book.
    #[tool]
    fn borrow(&self, shelf: &Shelf, hits: Arc<Mutex<u64>>) {}
}

fn main() {}
