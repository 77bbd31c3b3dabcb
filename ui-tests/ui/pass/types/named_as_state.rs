//! A type of the user can have the name of a lock or a cell, and injected state can have any name.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use llm_do::{State, data, tool, worker};

/// A cell of a table.
#[data]
pub struct Cell {
    /// From 0.
    pub row: u32,
    /// Its neighbours.
    pub next: Vec<Cell>,
}

/// Count the cells.
#[tool]
pub fn count(cell: Cell, cells: &[Cell], hits: State<Arc<AtomicU64>>, shelf: &State<Mutex<Vec<String>>>) -> usize {
    let _ = (cell, hits, shelf);
    cells.len()
}

/// Choose a cell.
#[worker]
pub async fn choose(cells: Vec<Cell>) -> Cell;

fn main() {}
