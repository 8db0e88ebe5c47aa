//! The formats of strings in requests, for the API document. The owner can parse any string in its format, and then decides
//! whether it is valid. Must never allow a string that the owner can't parse.

/// A head, `OP.SEQ`.
pub(crate) const HEAD: &str = r"^[0-9]{1,15}\.[0-9]{1,15}$";

/// The absolute path of a file or folder.
pub(crate) const ABSOLUTE: &str = r"^/[^\u0000]*$";

/// A string that is not blank.
pub(crate) const SAYS_SOMETHING: &str = r"[^\s]";

/// The digest of a file plan.
pub(crate) const DIGEST: &str = "^[0-9a-f]{32}$";

/// Bytes in base64, without unused bits that are set in the last character.
pub(crate) const BASE64: &str =
    "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$";

/// A permission rule, as people write it.
pub(crate) const RULE: &str = r"^(allow|ask|deny) [A-Za-z0-9_*-]+(\([^\s()\u0000-\u001f\u007f-\u009f]+( [^\s()\u0000-\u001f\u007f-\u009f]+)*\))?$";

/// A rule without `allow`, `ask` or `deny`.
pub(crate) const SHORT_RULE: &str =
    r"^[A-Za-z0-9_*-]+(\([^\s()\u0000-\u001f\u007f-\u009f]+( [^\s()\u0000-\u001f\u007f-\u009f]+)*\))?$";

/// The name of a tool in a rule. A `*` matches any characters.
pub(crate) const TOOL: &str = "^[A-Za-z0-9_*-]+$";

/// The name of an MCP server.
pub(crate) const SERVER: &str = r"^[A-Za-z0-9_.-]{1,40}$";

/// The name of a token.
pub(crate) const TOKEN_NAME: &str = "^[A-Za-z0-9_-]{1,40}$";

/// The id of a request.
pub(crate) const REQUEST_ID: &str = "^[!-~]{1,128}$";

/// The name of the holder of a draft.
pub(crate) const HOLDER: &str = "^[0-9a-f-]{1,64}$";

/// The address of an MCP server. It may begin with an environment variable.
pub(crate) const ADDRESS: &str = r"^(https?://|\$\{)";
