//! What the backend must do on disk. What a store does in general is tested by the conformance suite.

mod files;
mod integrity;
mod kit;
mod rows;
mod searching;
