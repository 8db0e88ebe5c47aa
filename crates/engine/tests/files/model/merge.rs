//! Three versions of a path become one, the naive way: texts are rows of numbered lines, of which each side has replaced
//! some. Must never use the project's own merge.

use retake_core::Clash;

use super::naive::Thing;

/// So many lines has a text.
pub(super) const LINES: usize = 6;

/// A text, by what is in each of its lines.
pub(super) fn text(lines: [u8; LINES]) -> Vec<u8> {
    let lines = lines.iter().enumerate().map(|(at, value)| format!("{at} {value}\n"));
    lines.collect::<String>().into_bytes()
}

/// What is in each line of a text; nothing, when the bytes are no such text.
pub(super) fn lines(bytes: &[u8]) -> Option<[u8; LINES]> {
    let words = std::str::from_utf8(bytes).ok()?;
    let mut lines = [0; LINES];
    for (at, line) in words.lines().enumerate() {
        *lines.get_mut(at)? = line.strip_prefix(&format!("{at} "))?.parse().ok()?;
    }
    (text(lines) == bytes).then_some(lines)
}

/// The bytes that hold what both sides changed. Lines that touch are one place.
fn bytes(base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    let (base, ours, theirs) = (lines(base)?, lines(ours)?, lines(theirs)?);
    let mut merged = base;
    let changed = |at: usize| ours[at] != base[at] || theirs[at] != base[at];
    let mut at = 0;
    while at < LINES {
        let end = (at..LINES).find(|line| !changed(*line)).unwrap_or(LINES);
        let place = at..end;
        let (ours, theirs) = (&ours[place.clone()], &theirs[place.clone()]);
        let taken = match &base[place.clone()] {
            base if ours == base || ours == theirs => theirs,
            base if theirs == base => ours,
            _ => return None,
        };
        merged[place].copy_from_slice(taken);
        at = end + 1;
    }
    Some(text(merged))
}

/// One of three, where one side alone changed it.
pub(super) fn one<T: PartialEq + Clone>(base: &T, ours: &T, theirs: &T) -> Option<T> {
    match () {
        () if ours == base || ours == theirs => Some(theirs.clone()),
        () if theirs == base => Some(ours.clone()),
        () => None,
    }
}

/// What leads from `base` to `theirs` is done to `ours`; and whether both had changed something.
pub(super) fn merge(
    base: &Option<Thing>,
    ours: &Option<Thing>,
    theirs: &Option<Thing>,
) -> Result<(Option<Thing>, bool), Clash> {
    if let Some(merged) = one(base, ours, theirs) {
        return Ok((merged, false));
    }
    match (base, ours, theirs) {
        (
            Some(Thing::File { bytes: base, mode: base_mode }),
            Some(Thing::File { bytes: ours, mode: our_mode }),
            Some(Thing::File { bytes: theirs, mode: their_mode }),
        ) => {
            let mode = one(base_mode, our_mode, their_mode).ok_or(Clash::Mode)?;
            let merged = one(base, ours, theirs).or_else(|| bytes(base, ours, theirs));
            Ok((Some(Thing::File { bytes: merged.ok_or(Clash::Bytes)?, mode }), true))
        }
        (_, None, _) => Err(Clash::Removed),
        (None, ..) => Err(Clash::Made),
        (Some(Thing::Folder { .. }), Some(Thing::Folder { .. }), Some(Thing::Folder { .. })) => {
            Err(Clash::Mode)
        }
        (_, Some(ours), Some(theirs)) if std::mem::discriminant(ours) != std::mem::discriminant(theirs) => {
            Err(Clash::Kind)
        }
        _ => Err(Clash::Bytes),
    }
}
