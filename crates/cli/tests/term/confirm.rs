//! Questions: one key answers.

use super::pty::Pty;

#[test]
fn one_key_answers_and_the_answer_stays() {
    for (key, answer, said) in
        [("y", "true", "yes"), ("\r", "false", "no"), ("\x1b", "false", "no"), ("\x03", "false", "no")]
    {
        let mut pty = Pty::start(&["confirm"]);
        pty.shows("Go on? [y/N]");
        pty.reads_keys();
        pty.send(key);
        let screen = pty.shows(&format!("ANSWER {answer}"));
        assert_eq!(screen.lines().next().map(str::trim_end), Some(&*format!("Go on? [y/N] {said}")));
        assert!(pty.ended());
    }
}

#[test]
fn a_pasted_text_is_no_answer() {
    let mut pty = Pty::start(&["confirm"]);
    pty.shows("Go on? [y/N]");
    pty.reads_keys();
    pty.send("you see\rno answer\r");
    let screen = pty.until("the question again", |screen| screen.matches("Go on? [y/N]").count() == 2);
    assert!(
        screen.contains("several keys at once are not an answer") && !screen.contains("ANSWER"),
        "{screen}"
    );
    pty.send("y");
    pty.shows("ANSWER true");
    assert!(pty.ended());
}
