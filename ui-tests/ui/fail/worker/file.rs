//! All errors of a worker file are reported in one compilation, at the name of the file, with their lines.

#![allow(unused)]

use llm_do::{Settings, worker};

/// Nowhere.
#[worker(file = "nowhere.worker")]
async fn nowhere(input: String) -> u8;

#[worker(file = "plain.worker")]
async fn plain(input: String) -> u8;

#[worker(file = "unclosed.worker")]
async fn unclosed(input: String) -> u8;

#[worker(file = "not_yaml.worker")]
async fn not_yaml(input: String) -> u8;

#[worker(file = "faulty.worker", model = "test:a", instructions = "Judge.", modle = "test:b")]
async fn faulty(input: String) -> u8;

#[worker(file = "schema.worker")]
async fn schema(input: String, limit: Option<u8>) -> u8;

#[worker(file = "undescribed.worker")]
async fn undescribed(input: String) -> u8;

fn main() {}
