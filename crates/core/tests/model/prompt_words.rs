//! The rules for a prompt in every form: the text of the model in order, and no result without its call. Must know no store:
//! every backend is compared with the same texts.

use retake_core::{Message, NO_MESSAGE, Part};

use super::naive::{Item, Talk};

/// The text of the prompt in order, and no result without its call directly before it.
pub(super) fn words(talk: &Talk, prompt: &[Message]) {
    let mut words = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for part in prompt.iter().flat_map(|message| &message.parts) {
        match part {
            // It is the placeholder for the missing prompt of an answer.
            Part::Text(text) if text == NO_MESSAGE => {}
            Part::Text(text) => words.push(text.replace("[Summary of earlier messages]\n", "")),
            Part::ToolCall { id, .. } => open.push(id),
            Part::ToolResult { call, .. } => {
                let asked = open.iter().position(|id| id == call);
                open.remove(asked.expect("a result has its call"));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(open, [""; 0], "a call has its result");
    let expected = talk.prompt().into_iter().map(|item| match item {
        Item::Entry(index) => talk.said[index].word.clone(),
        Item::Summary(id) => {
            let fold = talk.now.folds.iter().find(|fold| fold.id == id);
            fold.expect("the fold").summary.clone()
        }
    });
    assert_eq!(words, expected.collect::<Vec<_>>());
}
