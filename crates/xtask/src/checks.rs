//! The tidy checks, one module each. A check reads and reports; it must never write or print.

pub(crate) mod cycles;
pub(crate) mod depends;
pub(crate) mod documents;
pub(crate) mod edges;
pub(crate) mod errors;
pub(crate) mod fields;
pub(crate) mod language;
pub(crate) mod layout;
pub(crate) mod logs;
pub(crate) mod marks;
pub(crate) mod profiles;
pub(crate) mod prose;
pub(crate) mod purity;
pub(crate) mod shape;
pub(crate) mod values;
pub(crate) mod walls;
