//! The names that other agents give to the same tools and parameters. Only names with one meaning are here: `timeout`, for example,
//! is in seconds for some of them, and in milliseconds for others; `create_file` must not replace one.

/// Tools of other agents: ours, and their names without case, `-` and `_`.
const TOOLS: [(&str, &[&str]); 13] = [
    ("ask", &["askuser", "askuserquestion", "askfollowupquestion", "question"]),
    (
        "edit",
        &["editfile", "multiedit", "strreplace", "replace", "replaceinfile", "searchreplace", "fileedit"],
    ),
    ("fetch", &["webfetch", "fetchurl", "urlfetch", "readurl", "httpget"]),
    ("glob", &["findfiles", "filesearch", "globfiles", "globsearch"]),
    ("grep", &["grepsearch", "searchfilecontent", "ripgrep", "rg"]),
    ("job_output", &["bashoutput", "shelloutput"]),
    ("job_stop", &["killshell", "killbash", "bashkill", "jobkill"]),
    ("list", &["ls", "listdir", "listdirectory", "listfiles", "listfolder", "readfolder"]),
    ("patch", &["applypatch"]),
    ("read", &["readfile", "view", "viewfile", "openfile", "cat", "fileread", "fsread"]),
    (
        "shell",
        &[
            "bash",
            "sh",
            "terminal",
            "runcommand",
            "executecommand",
            "execcommand",
            "shellcommand",
            "runshellcommand",
            "runterminalcmd",
            "runterminalcommand",
            "localshell",
        ],
    ),
    ("todo", &["todowrite", "writetodos"]),
    ("write", &["writefile", "writetofile", "filewrite", "savefile", "fswrite"]),
];

const FILE: &[&str] = &["file", "filepath", "filename", "targetfile", "absolutepath"];
const FOLDER: &[&str] = &["dir", "directory", "dirpath", "directorypath", "folder", "targetdirectory"];

/// Parameters of other agents: the tool, ours, and their names without case, `-` and `_`.
const PARAMETERS: [(&str, &str, &[&str]); 30] = [
    ("ask", "question", &["prompt"]),
    ("ask", "choices", &["options", "followup"]),
    ("edit", "path", FILE),
    ("edit", "edits", &["changes", "replacements"]),
    ("edit", "old", &["oldstring", "oldstr", "oldtext", "search"]),
    ("edit", "new", &["newstring", "newstr", "newtext", "replace", "replacement"]),
    ("edit", "all", &["replaceall"]),
    ("fetch", "url", &["uri", "address"]),
    ("glob", "pattern", &["globpattern", "filepattern"]),
    ("glob", "path", FOLDER),
    ("grep", "pattern", &["query", "regex", "searchpattern"]),
    ("grep", "path", FILE),
    ("grep", "path", FOLDER),
    ("grep", "glob", &["include", "includepattern", "filepattern"]),
    ("grep", "ignore_case", &["i", "caseinsensitive"]),
    ("grep", "context", &["c", "contextlines"]),
    ("job_output", "id", &["bashid", "shellid", "jobid", "taskid"]),
    ("job_input", "id", &["bashid", "shellid", "jobid", "taskid"]),
    ("job_stop", "id", &["bashid", "shellid", "jobid", "taskid"]),
    ("list", "path", FILE),
    ("list", "path", FOLDER),
    ("patch", "patch", &["input", "diff", "patchtext", "unifieddiff"]),
    ("read", "path", FILE),
    ("read", "offset", &["startline", "linestart"]),
    ("read", "limit", &["maxlines", "numlines"]),
    ("shell", "command", &["cmd", "commandline"]),
    ("shell", "background", &["runinbackground", "isbackground"]),
    ("todo", "items", &["todos"]),
    ("write", "path", FILE),
    ("write", "content", &["contents", "filetext", "filecontent", "text"]),
];

/// A name without case, `-`, `_` and spaces.
pub(super) fn squashed(name: &str) -> String {
    name.chars().filter(|letter| !matches!(letter, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Our tool for another agent's.
pub(super) fn of_tool(name: &str) -> Option<&'static str> {
    let name = squashed(name);
    TOOLS.iter().find(|(_, theirs)| theirs.contains(&name.as_str())).map(|(own, _)| *own)
}

/// Our parameter for another agent's.
pub(super) fn of_parameter(tool: &str, name: &str) -> Option<&'static str> {
    let name = squashed(name);
    let same = PARAMETERS.iter().find(|(own, _, theirs)| *own == tool && theirs.contains(&name.as_str()));
    same.map(|(_, own, _)| *own)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{PARAMETERS, TOOLS, squashed};

    #[test]
    fn no_name_has_two_meanings() {
        let tools: Vec<_> = TOOLS.iter().flat_map(|(_, theirs)| theirs.iter().copied()).collect();
        let parameters: Vec<_> = PARAMETERS
            .iter()
            .flat_map(|(tool, _, theirs)| theirs.iter().map(move |name| (*tool, *name)))
            .collect();
        assert_eq!(tools.iter().collect::<BTreeSet<_>>().len(), tools.len());
        assert_eq!(parameters.iter().collect::<BTreeSet<_>>().len(), parameters.len());
        let all = tools.iter().chain(parameters.iter().map(|(_, name)| name));
        all.for_each(|name| assert_eq!(squashed(name), *name));
        assert!(TOOLS.iter().all(|(own, _)| !tools.contains(own)));
    }
}
