//! The on-disk formats of rows: content, deltas, states. Apart from the schema, the only place that defines
//! them.
//!
//! Decoding is strict: an unknown field, name or number is an error, never a default. The only exception is an
//! operation of a newer version's kind: it is read as [`retake_core::Change::Unknown`], which makes its
//! conversation read-only. The formats have no version of their own; the file has one (`PRAGMA user_version`).
//! Golden files in `tests/golden` pin them.

mod access;
mod chat;
mod content;
mod export;
mod files;
mod full;
#[cfg(test)]
mod golden;
mod kept;
mod op;
mod outbox;
mod place;
mod question;
#[cfg(test)]
mod random;
mod run;
mod state;
mod stream;
mod tool_turns;

pub(crate) use access::{decode_token_use, encode_token_use};
pub(crate) use chat::{
    PostColumns, decode_origin, decode_outcome, decode_post, decode_role, decode_wordings, encode_origin,
    encode_outcome, encode_post, encode_role, encode_wordings,
};
pub(crate) use content::{decode_parts, decode_usage, encode_parts, encode_usage};
pub use export::{
    EXPORT_FORMAT, EXPORT_VERSION, ExportHeader, decode_export_header, decode_exported, encode_export_header,
    encode_exported,
};
pub(crate) use files::{
    decode_changes, decode_delta, decode_git_move, decode_moves, decode_paths, decode_stack, encode_changes,
    encode_delta, encode_git_move, encode_moves, encode_stack,
};
pub use full::{FULL_FORMAT, FULL_VERSION, FullLine, decode_full};
pub(crate) use full::{encode_full, encode_import};
pub(crate) use kept::encode_kept;
pub(crate) use op::{OpRecord, decode_op, encode_op, erased_delta};
pub(crate) use outbox::{decode_claim, decode_failure, decode_told, encode_claim, encode_told};
pub(crate) use place::{decode_flags, decode_pos, decode_request, encode_flags, encode_pos, encode_request};
pub(crate) use run::{decode_run, encode_run};
pub(crate) use state::{decode_state, encode_state};
pub(crate) use stream::{decode_stream, encode_stream};
pub(crate) use tool_turns::{
    decode_effect_class, decode_effect_state, decode_permission, encode_effect_state, encode_permission,
};

/// The error of a record. The reader of the row adds the row's name.
pub(crate) type Decoded<T> = Result<T, String>;

/// JSON without white space.
fn to_json<T: serde::Serialize + ?Sized>(record: &T) -> String {
    serde_json::to_string(record).expect("BUG: records have string keys and no failing serialiser")
}

fn from_json<'a, T: serde::Deserialize<'a>>(what: &str, json: &'a str) -> Decoded<T> {
    serde_json::from_str(json).map_err(|error| format!("its {what} can't be read: {error}"))
}
