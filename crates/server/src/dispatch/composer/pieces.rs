//! The pieces of a draft: what each who shows words of it keeps there. Must never drop a word but where its keeper says another in its
//! place.

use retake_core::{Fact, Part};

/// By these names it is kept behind the parts of a piece what it is to be said in the place of, who shows it, and that it moved aside.
const EDITS: &str = "edits";
const HOLDER: &str = "holder";
const ASIDE: &str = "aside";

/// What one keeps.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Piece {
    pub(super) parts: Vec<Part>,
    /// The entry that it replaces.
    pub(super) edits: Option<String>,
    /// The client that shows it; without one, the next client gets it.
    pub(super) holder: Option<String>,
    /// It made room for other words: it is no part of what is about to be said, and comes back when it is called.
    pub(super) is_aside: bool,
}

/// Where new words go.
#[derive(Debug)]
pub(super) struct Place {
    /// What they take the place of; all, without.
    pub(super) instead_of: Option<Vec<Part>>,
    /// Their holder shows them no more.
    pub(super) released: bool,
    /// What moved aside for them, instead of what had before; that stays, without.
    pub(super) aside: Option<Vec<Vec<Part>>>,
}

/// The pieces of a draft as it is kept.
pub(super) fn read(kept: Vec<Part>) -> Vec<Piece> {
    let (mut pieces, mut piece) = (Vec::new(), Piece::default());
    for part in kept {
        let Part::Facts(facts) = part else {
            piece.parts.push(part);
            continue;
        };
        let said = |key| facts.iter().find(|fact| fact.key == key).map(|fact| fact.value.clone());
        let parts = std::mem::take(&mut piece.parts);
        pieces.push(Piece {
            parts,
            edits: said(EDITS),
            holder: said(HOLDER),
            is_aside: said(ASIDE).is_some(),
        });
    }
    pieces.push(piece);
    pieces.retain(|piece| !piece.parts.is_empty());
    pieces
}

/// The pieces as they are stored. Those without a holder come last, so that no holder needs to be written.
pub(super) fn written(mut pieces: Vec<Piece>) -> Vec<Part> {
    pieces.retain(|piece| !piece.parts.is_empty());
    pieces.sort_by_key(Piece::is_plain);
    let mut parts = Vec::new();
    for piece in pieces {
        let Piece { parts: own, edits, holder, is_aside } = piece;
        parts.extend(own);
        let facts = [(EDITS, edits), (HOLDER, holder), (ASIDE, is_aside.then(String::new))];
        let facts: Vec<_> =
            facts.into_iter().filter_map(|(key, value)| Some(Fact::new(key, value?))).collect();
        parts.extend((!facts.is_empty()).then_some(Part::Facts(facts)));
    }
    parts
}

/// All of them as one that nobody holds. What is put together is to be said instead of nothing.
pub(super) fn joined(mut pieces: Vec<Piece>) -> Piece {
    match pieces.len() {
        1 => Piece { holder: None, ..pieces.remove(0) },
        _ => {
            let parts = pieces.into_iter().flat_map(|piece| piece.parts).collect();
            Piece { parts, ..Piece::default() }
        }
    }
}

/// Keeps a new piece in its place.
pub(super) fn put(pieces: Vec<Piece>, new: Piece, place: Place) -> Vec<Piece> {
    let holder = new.holder.clone().filter(|_| !place.released);
    let (mut aside, mut pieces): (Vec<_>, Vec<_>) = pieces.into_iter().partition(|piece| piece.is_aside);
    if let Some(moved) = place.aside {
        let is_own = |piece: &Piece| piece.holder.is_none() || piece.holder == new.holder;
        aside.retain(|piece| !is_own(piece) && place.instead_of.is_some());
        let moved = moved.into_iter();
        aside.extend(moved.map(|parts| Piece { parts, holder: new.holder.clone(), ..Piece::aside() }));
    }
    for piece in aside.iter_mut().filter(|piece| piece.holder == new.holder) {
        piece.holder.clone_from(&holder);
    }
    match (place.instead_of, &new.holder) {
        (None, _) => pieces.clear(),
        (Some(_), Some(_)) if pieces.iter().any(|piece| piece.holder == new.holder) => {
            pieces.retain(|piece| piece.holder != new.holder);
        }
        // What it has given up, and nobody has taken yet, is its own still.
        (Some(old), Some(_)) => take_out(pieces.iter_mut().filter(|piece| piece.holder.is_none()), old),
        (Some(old), None) => {
            pieces.sort_by_key(|piece| piece.holder.is_some());
            take_out(pieces.iter_mut(), old);
        }
    }
    pieces.push(Piece { holder, ..new });
    pieces.extend(aside);
    pieces
}

/// Takes parts away, each once: the first that is like it.
fn take_out<'a>(pieces: impl Iterator<Item = &'a mut Piece>, old: Vec<Part>) {
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

/// What somebody is given who shows it from here on, and all pieces then: its own, and what nobody living holds; what moved aside
/// stays so, a piece each.
pub(super) fn claimed(
    pieces: Vec<Piece>,
    holder: Option<String>,
    lives: impl Fn(&str) -> bool,
) -> (Vec<Piece>, Vec<Piece>) {
    let is_free = |piece: &Piece| match &piece.holder {
        None => true,
        own if *own == holder => true,
        Some(other) => !lives(other),
    };
    let (free, mut others): (Vec<_>, Vec<_>) = pieces.into_iter().partition(is_free);
    let (aside, free): (Vec<_>, Vec<_>) = free.into_iter().partition(|piece| piece.is_aside);
    let claimed = std::iter::once(joined(free)).chain(aside);
    let claimed: Vec<_> = claimed.map(|piece| Piece { holder: holder.clone(), ..piece }).collect();
    others.extend(claimed.clone());
    (claimed, others)
}

impl Piece {
    fn aside() -> Self {
        Self { is_aside: true, ..Self::default() }
    }

    /// Whether it is parts and nothing else.
    fn is_plain(&self) -> bool {
        self.edits.is_none() && self.holder.is_none() && !self.is_aside
    }
}
