//! The English sentences about the findings of a check of the store. Must never promise that a repair helps if it may not.

use super::{count, of_files};
use crate::reply::{Finding, Repair};

/// What is wrong in the store.
pub fn finding(it: &Finding) -> String {
    match it {
        Finding::SearchIndex => {
            "the full-text index is damaged, so that a search may miss messages".to_owned()
        }
        Finding::Index => "an index of the file does not fit what it lists".to_owned(),
        Finding::Pages => {
            "pages of the file are damaged; messages that can't be read are named below".to_owned()
        }
        Finding::Unreadable { conversation: Some(id), detail } => {
            format!("conversation {id} can't be read: {detail}")
        }
        Finding::Unreadable { conversation: None, detail } => detail.clone(),
        Finding::Order { conversation, entry } => {
            format!("entry {entry} of conversation {conversation} follows an entry behind it")
        }
        Finding::Facts { conversation } => {
            format!("the index of facts of conversation {conversation} does not fit its messages")
        }
        Finding::StepCutShort { folder } => format!(
            "a step back or forth in {folder} was cut short: some of its files may be as before, others as after"
        ),
        Finding::EraseCutShort => {
            "an erasure was cut short: versions of files are still to be erased".to_owned()
        }
        Finding::LostVersions { versions, conversations } => format!(
            "missing or damaged: {} that a step back may need, in {}",
            of_files(*versions),
            conversations.join(", ")
        ),
        Finding::LostCaptured { versions } => {
            format!("missing or damaged: {} that captures saw", of_files(*versions))
        }
        Finding::LostCurrent { files } => format!(
            "missing or damaged in the object store: the content of {}; mending takes it in again",
            count(*files, "file")
        ),
        Finding::Unknown => super::UNKNOWN.to_owned(),
    }
}

/// What was repaired.
pub fn repair(it: &Repair) -> String {
    match it {
        Repair::Indexes => "the indexes of words and of facts were rebuilt from the messages".to_owned(),
        Repair::Versions { versions } => {
            format!("kept again, from the folders: {} that had been missing or damaged", of_files(*versions))
        }
        Repair::StepFinished { folder } => {
            format!("the step in {folder} that was cut short is finished")
        }
        Repair::StepTakenBack { folder } => {
            format!("the step in {folder} that was cut short is taken back")
        }
        Repair::EraseFinished => "the erasure of versions of files that was cut short is finished".to_owned(),
        Repair::Unknown => super::UNKNOWN.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::english::rows;

    #[test]
    fn each_finding_has_a_sentence() {
        let rows = [
            (
                r#"{"code":"search_index"}"#,
                "the full-text index is damaged, so that a search may miss messages",
            ),
            (r#"{"code":"index"}"#, "an index of the file does not fit what it lists"),
            (
                r#"{"code":"pages"}"#,
                "pages of the file are damaged; messages that can't be read are named below",
            ),
            (
                r#"{"code":"unreadable","conversation":"c1","detail":"row 7 is damaged"}"#,
                "conversation c1 can't be read: row 7 is damaged",
            ),
            (r#"{"code":"unreadable","detail":"row 7 is damaged"}"#, "row 7 is damaged"),
            (
                r#"{"code":"order","conversation":"c1","entry":2}"#,
                "entry 2 of conversation c1 follows an entry behind it",
            ),
            (
                r#"{"code":"facts","conversation":"c1"}"#,
                "the index of facts of conversation c1 does not fit its messages",
            ),
            (
                r#"{"code":"step_cut_short","folder":"/p"}"#,
                "a step back or forth in /p was cut short: some of its files may be as before, others as after",
            ),
            (
                r#"{"code":"erase_cut_short"}"#,
                "an erasure was cut short: versions of files are still to be erased",
            ),
            (
                r#"{"code":"lost_versions","versions":2,"conversations":["c1","c2"]}"#,
                "missing or damaged: 2 versions of a file that a step back may need, in c1, c2",
            ),
            (
                r#"{"code":"lost_captured","versions":1}"#,
                "missing or damaged: 1 version of a file that captures saw",
            ),
            (
                r#"{"code":"lost_current","files":3}"#,
                "missing or damaged in the object store: the content of 3 files; mending takes it in again",
            ),
        ];
        rows::check(&rows, finding);
    }

    #[test]
    fn each_repair_has_a_sentence() {
        let rows = [
            (r#"{"code":"indexes"}"#, "the indexes of words and of facts were rebuilt from the messages"),
            (
                r#"{"code":"versions","versions":2}"#,
                "kept again, from the folders: 2 versions of a file that had been missing or damaged",
            ),
            (r#"{"code":"step_finished","folder":"/p"}"#, "the step in /p that was cut short is finished"),
            (
                r#"{"code":"step_taken_back","folder":"/p"}"#,
                "the step in /p that was cut short is taken back",
            ),
            (
                r#"{"code":"erase_finished"}"#,
                "the erasure of versions of files that was cut short is finished",
            ),
        ];
        rows::check(&rows, repair);
    }
}
