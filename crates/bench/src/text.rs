//! Meaningless text with the word frequencies of a language: the same for the same seed, on every machine.

use std::sync::LazyLock;

use fastrand::Rng;

/// Made-up words; the most frequent ones first.
const WORDS: usize = 4000;
/// The fewest words of an entry.
const SHORTEST: usize = 50;
/// The most words of an entry.
const LONGEST: usize = 70;

/// A word in every twentieth entry and in no other.
pub(crate) const MARKER: &str = "qmarkerq";
/// The distance of entries with the marker.
pub(crate) const MARKER_EVERY: u64 = 20;

/// Generates texts.
#[derive(Debug)]
pub(crate) struct Texts {
    rng: Rng,
    language: &'static Language,
}

/// The words of all texts, generated once: that takes longer than the measured opening of a store.
static LANGUAGE: LazyLock<Language> = LazyLock::new(Language::new);

/// Words, the most frequent ones first.
#[derive(Debug)]
struct Language {
    words: Vec<String>,
    /// Sums of the words' frequencies, for a weighted choice.
    sums: Vec<f64>,
}

impl Texts {
    /// Texts from a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: Rng::with_seed(seed), language: &LANGUAGE }
    }

    /// The text of entry `number`: sentences, about sixty words.
    pub(crate) fn entry(&mut self, number: u64) -> String {
        let length = self.rng.usize(SHORTEST..=LONGEST);
        let mut text = String::with_capacity(length * 8);
        for at in 0..length {
            if at > 0 {
                text.push_str(if at % 12 == 0 { ". " } else { " " });
            }
            let marked = at == length / 2 && number.is_multiple_of(MARKER_EVERY);
            let word = if marked { MARKER } else { self.word() };
            text.push_str(word);
        }
        text.push('.');
        text
    }

    fn word(&mut self) -> &str {
        let Language { words, sums } = self.language;
        let wanted = self.rng.f64() * sums[WORDS - 1];
        &words[sums.partition_point(|sum| *sum < wanted).min(WORDS - 1)]
    }
}

impl Language {
    fn new() -> Self {
        let mut rng = Rng::with_seed(0);
        let mut words: Vec<String> = Vec::with_capacity(WORDS);
        while words.len() < WORDS {
            // Frequent words are short, as in a language.
            let syllables = 1 + rng.usize(..2) + usize::from(words.len() > 200);
            let word: String = (0..syllables).map(|_| syllable(&mut rng)).collect();
            if !words.contains(&word) {
                words.push(word);
            }
        }
        let mut sum = 0.0;
        let sums = (1..=WORDS).map(|rank| {
            sum += 1.0 / rank as f64;
            sum
        });
        Self { words, sums: sums.collect() }
    }
}

fn syllable(rng: &mut Rng) -> String {
    const BEGINNINGS: [&str; 16] =
        ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st", "tr"];
    const ENDS: [&str; 12] = ["a", "e", "i", "o", "u", "an", "er", "in", "on", "ul", "es", "at"];
    let (beginning, end) = (rng.usize(..BEGINNINGS.len()), rng.usize(..ENDS.len()));
    format!("{}{}", BEGINNINGS[beginning], ENDS[end])
}

#[cfg(test)]
mod tests {
    use super::{MARKER, Texts};

    #[test]
    fn one_in_twenty_has_the_marker_and_the_length_is_about_sixty_words() {
        let mut texts = Texts::new(1);
        let all: Vec<String> = (1..=2000).map(|number| texts.entry(number)).collect();
        assert_eq!(all.iter().filter(|text| text.contains(MARKER)).count(), 100);
        let words: usize = all.iter().map(|text| text.split(' ').count()).sum();
        assert!((58 * 2000..62 * 2000).contains(&words), "{words}");
        let mut again = Texts::new(1);
        assert!(all.iter().zip(1..).all(|(text, number)| *text == again.entry(number)));
    }
}
