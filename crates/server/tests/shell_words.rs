//! Clients may not use core, so it and wire each have a function that quotes words for a shell. Both must agree.

#[test]
fn core_and_wire_quote_words_alike() {
    let words = [
        "", "a", "a b", "it's", "A=b", "--a=b", "-x=1", "=a", "~", "a:b%c", "$x", "*", "ä", "a\nb", "!",
        "{a,b}",
    ];
    for word in
        words.map(str::to_owned).into_iter().chain((1..128_u8).map(|byte| char::from(byte).to_string()))
    {
        assert_eq!(retake_core::shell_word(&word), retake_wire::shell_word(&word), "{word:?}");
    }
}
