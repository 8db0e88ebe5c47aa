//! What is agreed to in the picker, and what is not.

use retake_wire::reply::Receipt;

use super::super::samples::with_files;
use super::stage;

/// The next message, of somebody who takes the question for the composer.
#[test]
fn words_that_are_typed_into_the_question_agree_to_nothing() {
    let mut stage = stage(3, with_files());
    stage.owner.applies.push_back(Ok(Receipt::default()));
    stage.keys("enter");
    stage.keys("s t o p enter");
    assert!(stage.applied().is_empty());
    assert!(stage.screen(80, 24).contains("these were no words for here: once more agrees to the plan"));
    stage.keys("enter");
    assert_eq!(stage.applied().len(), 1);
}
