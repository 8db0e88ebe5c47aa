//! Tests of the backend on disk. The conformance suite tests the general behaviour of a store.

mod files;
mod integrity;
mod kit;
mod rows;
mod searching;
