//! The draft of an author: a piece for each client that shows a part of it. Must never drop text, unless its holder replaces it.

use crate::content::{Fact, Part};

/// Keys of the facts after the parts of a piece: the entry that it replaces, its holder, and whether it was moved aside.
const EDITS: &str = "edits";
const HOLDER: &str = "holder";
const ASIDE: &str = "aside";

/// The text of one client.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DraftPiece {
    /// The text and its attachments.
    pub parts: Vec<Part>,
    /// The entry that it will replace.
    pub edits: Option<String>,
    /// The client that shows it. Without one, the next client gets it.
    pub holder: Option<String>,
    /// It was moved aside for another text: it is no part of the next message, and returns when a person requests it.
    pub is_aside: bool,
}

/// The place for new text.
#[derive(Clone, Debug, Default)]
pub struct DraftPlace {
    /// The parts that it replaces; without them, all.
    pub instead_of: Option<Vec<Part>>,
    /// Whether its holder no longer shows it.
    pub released: bool,
    /// What was moved aside for it, replacing what was aside before; without it, that stays.
    pub aside: Option<Vec<Vec<Part>>>,
}

/// A draft in the form for people.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShownDraft {
    /// The entry that it will replace.
    pub edits: Option<String>,
    /// The text and its attachments.
    pub parts: Vec<Part>,
    /// The pieces that were moved aside.
    pub aside: Vec<Vec<Part>>,
}

/// All pieces of an author.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft(Vec<DraftPiece>);

impl Draft {
    /// Parses a stored draft.
    pub fn read(stored: Vec<Part>) -> Self {
        let (mut pieces, mut piece) = (Vec::new(), DraftPiece::default());
        for part in stored {
            let Part::Facts(facts) = part else {
                piece.parts.push(part);
                continue;
            };
            let value = |key| facts.iter().find(|fact| fact.key == key).map(|fact| fact.value.clone());
            let parts = std::mem::take(&mut piece.parts);
            let is_aside = value(ASIDE).is_some();
            pieces.push(DraftPiece { parts, edits: value(EDITS), holder: value(HOLDER), is_aside });
        }
        pieces.push(piece);
        pieces.retain(|piece| !piece.parts.is_empty());
        Self(pieces)
    }

    /// The draft in its stored form. Pieces without a holder come last, so that no empty holder needs to be written.
    pub fn stored(self) -> Vec<Part> {
        let mut pieces = self.0;
        pieces.retain(|piece| !piece.parts.is_empty());
        pieces.sort_by_key(DraftPiece::is_plain);
        let mut parts = Vec::new();
        for piece in pieces {
            let DraftPiece { parts: own, edits, holder, is_aside } = piece;
            parts.extend(own);
            let facts = [(EDITS, edits), (HOLDER, holder), (ASIDE, is_aside.then(String::new))];
            let facts: Vec<_> =
                facts.into_iter().filter_map(|(key, value)| Some(Fact::new(key, value?))).collect();
            parts.extend((!facts.is_empty()).then_some(Part::Facts(facts)));
        }
        parts
    }

    /// The form for people.
    pub fn shown(self) -> ShownDraft {
        let (aside, pieces): (Vec<_>, Vec<_>) = self.0.into_iter().partition(|piece| piece.is_aside);
        let DraftPiece { parts, edits, .. } = joined(pieces);
        ShownDraft { edits, parts, aside: aside.into_iter().map(|piece| piece.parts).collect() }
    }

    /// Stores a new piece in its place.
    pub fn put(&mut self, new: DraftPiece, place: DraftPlace) {
        let holder = new.holder.clone().filter(|_| !place.released);
        let all = std::mem::take(&mut self.0).into_iter();
        let (mut aside, mut pieces): (Vec<_>, Vec<_>) = all.partition(|piece| piece.is_aside);
        if let Some(moved) = place.aside {
            let is_own = |piece: &DraftPiece| piece.holder.is_none() || piece.holder == new.holder;
            aside.retain(|piece| !is_own(piece) && place.instead_of.is_some());
            let moved = moved.into_iter();
            aside.extend(moved.map(|parts| DraftPiece {
                parts,
                holder: new.holder.clone(),
                ..DraftPiece::aside()
            }));
        }
        for piece in aside.iter_mut().filter(|piece| piece.holder == new.holder) {
            piece.holder.clone_from(&holder);
        }
        match (place.instead_of, &new.holder) {
            (None, _) => pieces.clear(),
            (Some(_), Some(_)) if pieces.iter().any(|piece| piece.holder == new.holder) => {
                pieces.retain(|piece| piece.holder != new.holder);
            }
            // A piece that it released and nobody has claimed yet is still its own.
            (Some(old), Some(_)) => take_out(pieces.iter_mut().filter(|piece| piece.holder.is_none()), old),
            (Some(old), None) => {
                pieces.sort_by_key(|piece| piece.holder.is_some());
                take_out(pieces.iter_mut(), old);
            }
        }
        pieces.push(DraftPiece { holder, ..new });
        pieces.extend(aside);
        self.0 = pieces;
    }

    /// Gives a holder its own pieces and those without a living holder. Pieces that were moved aside stay aside, one by one.
    pub fn claim(&mut self, holder: Option<&str>, lives: impl Fn(&str) -> bool) -> Self {
        let is_free = |piece: &DraftPiece| match &piece.holder {
            None => true,
            own if own.as_deref() == holder => true,
            Some(other) => !lives(other),
        };
        let (free, mut others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.0).into_iter().partition(is_free);
        let (aside, free): (Vec<_>, Vec<_>) = free.into_iter().partition(|piece| piece.is_aside);
        let claimed = std::iter::once(joined(free)).chain(aside);
        let claimed: Vec<_> =
            claimed.map(|piece| DraftPiece { holder: holder.map(str::to_owned), ..piece }).collect();
        others.extend(claimed.clone());
        self.0 = others;
        Self(claimed)
    }
}

/// Joins pieces to one without a holder. A joined piece replaces no entry.
fn joined(mut pieces: Vec<DraftPiece>) -> DraftPiece {
    match pieces.len() {
        1 => DraftPiece { holder: None, ..pieces.remove(0) },
        _ => {
            let parts = pieces.into_iter().flat_map(|piece| piece.parts).collect();
            DraftPiece { parts, ..DraftPiece::default() }
        }
    }
}

/// Removes parts, each once: the first equal one.
fn take_out<'a>(pieces: impl Iterator<Item = &'a mut DraftPiece>, old: Vec<Part>) {
    let mut pieces: Vec<_> = pieces.collect();
    for part in old {
        let place = pieces.iter_mut().find_map(|piece| {
            let at = piece.parts.iter().position(|kept| *kept == part)?;
            Some((piece, at))
        });
        if let Some((piece, at)) = place {
            piece.parts.remove(at);
        }
    }
}

impl DraftPiece {
    fn aside() -> Self {
        Self { is_aside: true, ..Self::default() }
    }

    /// Whether it consists of parts alone.
    fn is_plain(&self) -> bool {
        self.edits.is_none() && self.holder.is_none() && !self.is_aside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str, holder: Option<&str>) -> DraftPiece {
        DraftPiece {
            parts: vec![Part::text(text)],
            holder: holder.map(str::to_owned),
            ..DraftPiece::default()
        }
    }

    fn aside(text: &str, holder: Option<&str>) -> DraftPiece {
        DraftPiece { is_aside: true, ..piece(text, holder) }
    }

    fn instead_of(texts: &[&str]) -> DraftPlace {
        DraftPlace {
            instead_of: Some(texts.iter().map(|text| Part::text(*text)).collect()),
            ..DraftPlace::default()
        }
    }

    /// Each piece, shortened: its texts, its holder, whether it is aside.
    fn short(draft: &Draft) -> Vec<String> {
        let one = |piece: &DraftPiece| {
            let texts: Vec<_> = piece.parts.iter().filter_map(Part::as_text).collect();
            let holder = piece.holder.as_deref().unwrap_or("nobody");
            format!("{}{} of {holder}", if piece.is_aside { "aside: " } else { "" }, texts.join("+"))
        };
        draft.0.iter().filter(|piece| !piece.parts.is_empty()).map(one).collect()
    }

    #[test]
    fn stored_draft_is_read_back_with_plain_pieces_last() {
        let edits = DraftPiece { edits: Some("e1".into()), ..piece("new words", None) };
        let draft = Draft(vec![
            piece("plain", None),
            edits,
            piece("a", Some("A")),
            aside("old", None),
            DraftPiece::default(),
        ]);
        let stored = draft.stored();
        assert_eq!(stored.last(), Some(&Part::text("plain")));
        let read = Draft::read(stored.clone());
        assert_eq!(
            short(&read),
            ["new words of nobody", "a of A", "aside: old of nobody", "plain of nobody"]
        );
        assert_eq!(read.0[0].edits.as_deref(), Some("e1"));
        assert_eq!(read.stored(), stored);
        assert_eq!(Draft::read(vec![Part::text("plain")]).stored(), [Part::text("plain")], "no facts");
        assert_eq!(Draft::read(Vec::new()), Draft::default());
    }

    #[test]
    fn person_sees_one_text_and_what_moved_aside() {
        let edits = DraftPiece { edits: Some("e1".into()), ..piece("new words", Some("A")) };
        let shown = Draft(vec![edits.clone(), aside("old", None)]).shown();
        assert_eq!((shown.edits.as_deref(), shown.parts), (Some("e1"), vec![Part::text("new words")]));
        assert_eq!(shown.aside, [vec![Part::text("old")]]);
        let shown = Draft(vec![edits, piece("b", Some("B"))]).shown();
        assert_eq!(shown.edits, None, "two pieces together replace nothing");
        assert_eq!(shown.parts, [Part::text("new words"), Part::text("b")]);
    }

    #[test]
    fn new_words_of_a_holder_replace_its_own_only() {
        let mut draft = Draft(vec![piece("a", Some("A")), piece("b", Some("B")), piece("free", None)]);
        draft.put(piece("a2", Some("A")), instead_of(&["a"]));
        assert_eq!(short(&draft), ["b of B", "free of nobody", "a2 of A"]);
        // An empty piece replaces free pieces, each part once.
        draft.put(piece("c", Some("C")), instead_of(&["free", "b"]));
        assert_eq!(short(&draft), ["b of B", "a2 of A", "c of C"]);
        // Without a holder: free pieces first, then those of other holders.
        draft.put(piece("x", None), instead_of(&["a2"]));
        assert_eq!(short(&draft), ["b of B", "c of C", "x of nobody"]);
        draft.put(piece("y", None), instead_of(&["x", "c"]));
        assert_eq!(short(&draft), ["b of B", "y of nobody"]);
        draft.put(piece("all", Some("A")), DraftPlace::default());
        assert_eq!(short(&draft), ["all of A"]);
    }

    #[test]
    fn free_words_are_taken_out_before_those_that_somebody_shows() {
        let mut draft = Draft(vec![piece("same", Some("A")), piece("same", None)]);
        draft.put(piece("new", None), instead_of(&["same"]));
        assert_eq!(short(&draft), ["same of A", "new of nobody"]);
    }

    #[test]
    fn released_words_have_no_holder() {
        let mut draft = Draft(vec![piece("a", Some("A")), aside("old", Some("A")), aside("b", Some("B"))]);
        draft.put(piece("a2", Some("A")), DraftPlace { released: true, ..instead_of(&["a"]) });
        assert_eq!(short(&draft), ["a2 of nobody", "aside: old of nobody", "aside: b of B"]);
    }

    #[test]
    fn what_moves_aside_replaces_what_its_holder_had_aside() {
        let mut draft = Draft(vec![aside("old", Some("A")), aside("free", None), aside("b", Some("B"))]);
        let moved = Some(vec![vec![Part::text("was here")]]);
        draft.put(piece("new", Some("A")), DraftPlace { aside: moved.clone(), ..instead_of(&[]) });
        assert_eq!(short(&draft), ["new of A", "aside: b of B", "aside: was here of A"]);
        draft.put(piece("all", Some("A")), DraftPlace { aside: moved, ..DraftPlace::default() });
        assert_eq!(short(&draft), ["all of A", "aside: was here of A"], "with no place, all goes");
        draft.put(piece("more", Some("A")), instead_of(&["all"]));
        assert_eq!(short(&draft), ["more of A", "aside: was here of A"], "without a word it stays");
    }

    #[test]
    fn claim_gives_what_no_living_holder_shows() {
        let all = vec![
            piece("own", Some("A")),
            piece("dead", Some("D")),
            piece("b", Some("B")),
            piece("free", None),
            aside("old", None),
            aside("of b", Some("B")),
        ];
        let (mut draft, a) = (Draft(all.clone()), "A");
        let claimed = draft.claim(Some(a), |holder| holder == "B");
        assert_eq!(short(&claimed), ["own+dead+free of A", "aside: old of A"]);
        assert_eq!(short(&draft), ["b of B", "aside: of b of B", "own+dead+free of A", "aside: old of A"]);
        let mut draft = Draft(all);
        let claimed = draft.claim(None, |holder| holder != "D");
        assert_eq!(short(&claimed), ["dead+free of nobody", "aside: old of nobody"]);
        assert_eq!(short(&draft)[..2], ["own of A", "b of B"]);
    }
}
