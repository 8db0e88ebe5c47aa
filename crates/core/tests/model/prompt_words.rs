//! What holds of a prompt in every form: the words of the model in their order, and no result without its call. Must know no
//! store: every backend is compared by the same words.

use retake_core::{Message, NO_MESSAGE, Part};

use super::naive::{Item, Talk};

/// The words of the prompt in their order, and no result without its call just before it.
pub(super) fn words(talk: &Talk, prompt: &[Message]) {
    let mut words = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for part in prompt.iter().flat_map(|message| &message.parts) {
        match part {
            // It stands where an answer has no prompt.
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
