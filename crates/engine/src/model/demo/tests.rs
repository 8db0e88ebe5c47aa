//! Tests of the demo: what it says to what, that it is honest, and that it streams.

use futures::executor::block_on;
use retake_core::Role;

use super::*;
use crate::clock::ManualClock;
use crate::model::Message;

fn prompt(said: &[&str], variant: u32) -> Prompt {
    let mut messages = Vec::new();
    for text in said {
        messages.push(Message::text(Role::User, *text));
        messages.push(Message::text(Role::Assistant, "…"));
    }
    messages.pop();
    Prompt { messages, variant, ..Prompt::default() }
}

fn chunks(prompt: Prompt) -> Vec<Chunk> {
    let demo = Demo::new(Arc::new(ManualClock::new(0)), Duration::ZERO);
    block_on(demo.stream(prompt).map(|chunk| chunk.expect("the demo never fails")).collect())
}

fn answer(said: &[&str], variant: u32) -> String {
    let text = |chunk| match chunk {
        Chunk::Text(text) => Some(text),
        _ => None,
    };
    chunks(prompt(said, variant)).into_iter().filter_map(text).collect()
}

#[test]
fn the_first_answer_says_that_it_is_a_demo_and_how_to_get_more() {
    let first = answer(&["good day"], 0);
    for word in ["not a real model", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "Ollama"] {
        assert!(first.contains(word), "{first}");
    }
    assert!(!answer(&["good day", "and now"], 0).contains("not a real model"));
}

#[test]
fn it_shows_what_it_sees_so_that_a_rewound_message_is_gone() {
    let before = answer(&["I like tea", "I like milk", "well?"], 0);
    assert!(
        before.ends_with("You said \"well?\". This is turn 3; in the one before you said \"I like milk\"."),
        "{before}"
    );
    let after = answer(&["I like tea", "well?"], 0);
    assert!(after.contains("turn 2") && after.contains("tea") && !after.contains("milk"), "{after}");
    assert!(answer(&["a b", "c d", "What do you see?"], 0).contains("1. a b\n2. c d\n3. What do you see?"));
}

#[test]
fn it_answers_what_it_can() {
    let cases = [
        ("What is 17 * 3?", "17 * 3 = 51"),
        ("repeat: tea, milk", "- tea\n- milk"),
        ("How do I rewind?", "`/rewind` lists"),
        ("what about branches and undo", "`/undo` takes back"),
        ("Hello!", "`/retry`"),
        ("tell me a story about a fox.", "Once there was a fox, in"),
    ];
    for (said, expected) in cases {
        let answer = answer(&["before", said], 0);
        assert!(answer.contains(expected), "{said}: {answer}");
    }
    assert_eq!(answer(&["x", "tell me a story"], 0).split("\n\n").count(), 4);
}

#[test]
fn the_same_prompt_has_the_same_answer_and_each_variant_another() {
    let said = ["one", "tell me a story about a fox"];
    assert_eq!(answer(&said, 0), answer(&said, 0));
    let mut all: Vec<String> = (0..9).map(|variant| answer(&said, variant)).collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 9);
    assert!(answer(&said, u32::MAX).contains("answer 4294967296"));
}

#[test]
fn it_streams_word_by_word_at_its_pace_and_ends() {
    let clock = ManualClock::skipping(0);
    let pace = Duration::from_millis(15);
    let demo = Demo::new(Arc::new(clock.clone()), pace);
    let count = block_on(demo.stream(prompt(&["x", "y"], 0)).collect::<Vec<_>>()).len();
    assert!(count > 10);
    assert_eq!(clock.slept(), vec![pace; count]);
    assert_eq!(chunks(prompt(&["x"], 0)).last(), Some(&Chunk::End(EndReason::Stop)));
}

#[test]
fn odd_prompts_do_no_harm() {
    assert!(answer(&[], 0).contains("no message"));
    for text in ["", "repeat", "story", "İstory of İ", "🦀 repeat 🦀", "\u{1b}[31m"] {
        assert!(answer(&["x", text], 3).contains("turn 2"), "{text:?}");
    }
    let long = "ä".repeat(1_000_000);
    assert!(answer(&["x", &long], 0).len() < 2_000);
}
