//! The binary `retake`: the composition root. Must never hold logic.

fn main() {}
