//! The formats of texts in requests, for the API document: the owner can parse any text of such a format, and then decides
//! whether it makes sense. Must never allow a text that the owner can't parse.

/// A head, `OP.SEQ`.
pub(crate) const HEAD: &str = r"^[0-9]{1,15}\.[0-9]{1,15}$";

/// A file or folder, named from the root.
pub(crate) const ABSOLUTE: &str = r"^/[^\u0000]*$";

/// A text that says something.
pub(crate) const SAYS_SOMETHING: &str = r"[^\s]";

/// The digest of a file plan.
pub(crate) const DIGEST: &str = "^[0-9a-f]{32}$";

/// Bytes in base64; what the last letter says beyond them is nothing.
pub(crate) const BASE64: &str =
    "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$";

/// A rule of what may run, as people write it.
pub(crate) const RULE: &str = r"^(allow|ask|deny) [A-Za-z0-9_*-]+(\([^\s()\u0000-\u001f\u007f-\u009f]+( [^\s()\u0000-\u001f\u007f-\u009f]+)*\))?$";

/// The same without what it says.
pub(crate) const SHORT_RULE: &str =
    r"^[A-Za-z0-9_*-]+(\([^\s()\u0000-\u001f\u007f-\u009f]+( [^\s()\u0000-\u001f\u007f-\u009f]+)*\))?$";

/// The name of a tool in a rule; a `*` stands for any letters.
pub(crate) const TOOL: &str = "^[A-Za-z0-9_*-]+$";

/// The name of an MCP server.
pub(crate) const SERVER: &str = r"^[A-Za-z0-9_.-]{1,40}$";

/// A request's id.
pub(crate) const REQUEST_ID: &str = "^[!-~]{1,128}$";

/// The name of who holds a draft.
pub(crate) const HOLDER: &str = "^[0-9a-f-]{1,64}$";

/// The address of an MCP server; a variable of the environment may stand for its beginning.
pub(crate) const ADDRESS: &str = r"^(https?://|\$\{)";
