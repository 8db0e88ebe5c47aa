//! Texts with a frame: lines that nobody changes, and places between them that are written as a whole. Every line is unique, so
//! the content of a place gives its author, and edits of different places never touch.

/// The number of places of a text.
pub(super) const PLACES: usize = 4;

/// Gives each line a unique name, with a mark of its author.
#[derive(Debug, Default)]
pub(super) struct Mint(u32);

impl Mint {
    /// A unique name.
    pub(super) fn token(&mut self, who: &str) -> String {
        self.0 += 1;
        format!("{who}-{}", self.0)
    }

    /// Rare permission bits.
    pub(super) fn bits(&mut self) -> u32 {
        self.0 += 1;
        0o600 | (self.0 % 0o100)
    }
}

/// A parsed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) frame: String,
    pub(super) places: Vec<Vec<String>>,
}

impl Text {
    /// A new text by this author.
    pub(super) fn new(mint: &mut Mint, who: &str) -> Self {
        let frame = mint.token(who);
        let places = (0..PLACES).map(|place| vec![format!("{frame}:{place}")]).collect();
        Self { frame, places }
    }

    /// The text with these bytes, if they are one.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
        let mut lines = text.split('\n');
        let frame = lines.next()?.strip_prefix("= ")?.strip_suffix(".0")?.to_owned();
        let mut places = vec![Vec::new()];
        for line in lines {
            if line.starts_with("= ") {
                if line != format!("= {frame}.{}", places.len()) {
                    return None;
                }
                places.push(Vec::new());
            } else {
                places.last_mut().expect("one at least").push(line.to_owned());
            }
        }
        let closed = places.pop().is_some_and(|last| last.is_empty());
        (closed && places.len() == PLACES).then_some(Self { frame, places })
    }

    /// Its bytes.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut all = String::new();
        for (at, place) in self.places.iter().enumerate() {
            all += &format!("= {}.{at}\n", self.frame);
            place.iter().for_each(|line| all += &format!("{line}\n"));
        }
        all += &format!("= {}.{PLACES}\n", self.frame);
        all.into_bytes()
    }
}
