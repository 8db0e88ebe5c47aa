//! One layer of a path: what is left of it, and its form on another version than its own.

use super::super::merge::{Clash, MergeBytes, merge, merge_over};
use super::super::record::Record;
use super::Layer;

/// From one version to another.
pub(in crate::files) type Step = (Option<Record>, Option<Record>);

/// The version of a file when some of its layers leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FinalVersion {
    /// It stays as it is, including the changes of leaving layers.
    AsItIs,
    /// The version that the staying layers make.
    Exactly,
    /// It is absent.
    Nothing,
}

/// A version with these changes applied; `None` if one of them cannot be merged.
pub(super) fn stepped<'a>(
    version: Option<&Record>,
    steps: impl IntoIterator<Item = &'a Step>,
    bytes: &mut dyn MergeBytes,
) -> Option<Option<Record>> {
    steps.into_iter().try_fold(version.cloned(), |now, (from, to)| {
        merge(from.as_ref(), now.as_ref(), to.as_ref(), bytes).ok().map(|merged| merged.record)
    })
}

/// A layer on top of these changes.
pub(super) fn upon_steps<'a>(
    layer: &Layer,
    steps: impl IntoIterator<Item = &'a Step> + Copy,
    bytes: &mut dyn MergeBytes,
) -> Option<Layer> {
    let before = stepped(layer.before.as_ref(), steps, bytes)?;
    let after = stepped(layer.after.as_ref(), steps, bytes)?;
    Some(Layer { before, after, ..layer.clone() })
}

/// For each of these layers, highest first, what is left of it in the current version: the change from the version without it to
/// the current one. Nothing for layers that cannot be removed one by one.
pub(super) fn what_is_left<'a>(
    layers: &'a [Layer],
    now: Option<&Record>,
    bytes: &mut dyn MergeBytes,
) -> Vec<(&'a Layer, Layer)> {
    left_of(layers, now, false, bytes)
}

/// The same for a file that somebody has removed: of layers that cannot be removed from it, nothing is left.
pub(in crate::files) fn what_is_left_in_all<'a>(
    layers: &'a [Layer],
    now: Option<&Record>,
    bytes: &mut dyn MergeBytes,
) -> Vec<(&'a Layer, Layer)> {
    left_of(layers, now, true, bytes)
}

fn left_of<'a>(
    layers: &'a [Layer],
    now: Option<&Record>,
    removed_too: bool,
    bytes: &mut dyn MergeBytes,
) -> Vec<(&'a Layer, Layer)> {
    let (mut left, mut now) = (Vec::new(), now.cloned());
    for layer in layers.iter().rev() {
        if layer.after == now {
            now = layer.before.clone();
            continue;
        }
        match merge(layer.after.as_ref(), now.as_ref(), layer.before.as_ref(), bytes) {
            Ok(below) => {
                left.push((layer, Layer { before: below.record.clone(), after: now, ..layer.clone() }));
                now = below.record;
            }
            Err(_) if removed_too && now.is_none() => {
                left.push((layer, Layer { before: None, after: None, ..layer.clone() }));
            }
            Err(_) => break,
        }
    }
    left
}

/// The part of a layer to apply again after it only made way: text that others had removed from it does not return. If it must be
/// as it was above what returns now, that text is removed, too.
pub(super) fn as_it_is_left(layer: &Layer, left: &[(&Layer, Layer)], bytes: &mut dyn MergeBytes) -> Layer {
    if let Some((_, left)) = left.iter().find(|(of, _)| *of == layer) {
        return left.clone();
    }
    let mut others = left.iter().filter(|(of, _)| of.delta == layer.delta);
    let (Some((of, left)), None) = (others.next(), others.next()) else { return layer.clone() };
    let mut without = |there: &Option<Record>, was: &Option<Record>, is: &Option<Record>| {
        merge(was.as_ref(), there.as_ref(), is.as_ref(), bytes).map(|merged| merged.record)
    };
    let before = without(&layer.before, &of.before, &left.before);
    let after = without(&layer.after, &of.after, &left.after);
    match (before, after) {
        (Ok(before), Ok(after)) => Layer { before, after, ..layer.clone() },
        _ => left.clone(),
    }
}

/// A layer on another version than its own: text that it did not write over is taken from that version. This is impossible if it
/// wrote into a missing file. Then the layer loses only the text that it wrote over; if the file is gone, all text that it did
/// not write. Also returns whether it is on the other version.
pub(super) fn upon(
    layer: &Layer,
    before: Option<Record>,
    file: FinalVersion,
    bytes: &mut dyn MergeBytes,
) -> (Layer, bool) {
    match merged_over(layer.before.as_ref(), layer.after.as_ref(), before.as_ref(), file, bytes) {
        Ok(after) => {
            // Text that had been removed where the layer wrote returns with the layer, unless somebody wanted the file without
            // it.
            let before = if file == FinalVersion::Exactly { before } else { beside(layer, before, bytes) };
            (Layer { before, after, ..layer.clone() }, true)
        }
        Err(_) => {
            let before = unwritten(layer, bytes).or_else(|| layer.before.clone());
            (Layer { before, ..layer.clone() }, false)
        }
    }
}

/// Merges as far as possible. If a file is gone, only the lines of other authors stay, and no other part of it.
fn merged_over(
    from: Option<&Record>,
    there: Option<&Record>,
    to: Option<&Record>,
    file: FinalVersion,
    bytes: &mut dyn MergeBytes,
) -> Result<Option<Record>, Clash> {
    match (merge_over(from, there, to, bytes), from, there) {
        (Err(_), Some(Record::File { hash: from, .. }), Some(Record::File { hash, mode, .. }))
            if file == FinalVersion::Nothing =>
        {
            let left = bytes.over(*from, *hash, None).filter(|(_, len)| *len > 0);
            Ok(left.map(|(hash, len)| Record::File { hash, len, mode: *mode }))
        }
        (merged, ..) => merged,
    }
}

/// The version below a layer without lines that were only added where the layer wrote. They are not in its result, and it did not
/// remove them.
fn beside(layer: &Layer, before: Option<Record>, bytes: &mut dyn MergeBytes) -> Option<Record> {
    let hash = |record: &Option<Record>| record.as_ref().and_then(Record::hash);
    let (Some(found), Some(left)) = (hash(&layer.before), hash(&layer.after)) else { return before };
    match before {
        Some(Record::File { hash, len, mode }) if hash != found => {
            let (hash, len) = bytes.beside(found, left, hash).unwrap_or((hash, len));
            Some(Record::File { hash, len, mode })
        }
        before => before,
    }
}

/// The version before a layer, without the lines that it wrote over; `None` if it is no file.
fn unwritten(layer: &Layer, bytes: &mut dyn MergeBytes) -> Option<Record> {
    let (Some(Record::File { hash: found, mode, .. }), Some(Record::File { hash: left, .. })) =
        (&layer.before, &layer.after)
    else {
        return None;
    };
    let (written, _) = bytes.over(*found, *left, None)?;
    let (hash, len) = bytes.over(written, *left, None)?;
    Some(Record::File { hash, len, mode: *mode })
}

/// The version before a layer, without the lines of this version that it wrote over: they belong to a leaving file into which
/// others wrote. `None` if one of them is no file.
pub(super) fn without_written(
    layer: &Layer,
    made: Option<&Record>,
    bytes: &mut dyn MergeBytes,
) -> Option<Record> {
    let (Record::File { hash: made, .. }, Record::File { hash: found, mode, .. }) =
        (made?, layer.before.as_ref()?)
    else {
        return None;
    };
    let Some(Record::File { hash: left, .. }) = &layer.after else { return None };
    let (others, _) = bytes.over(*made, *left, None)?;
    let (stays, _) = bytes.over(others, *left, None)?;
    let (hash, len) = bytes.over(*made, *found, Some(stays))?;
    Some(Record::File { hash, len, mode: *mode })
}

/// A version with these changes applied, each from one version to another, except where others wrote. Also the version before a
/// change that could not be separated from changes of other authors, if there is one.
pub(super) fn as_far_as<'a>(
    version: Option<&Record>,
    steps: impl Iterator<Item = (Option<&'a Record>, Option<&'a Record>)>,
    file: FinalVersion,
    bytes: &mut dyn MergeBytes,
) -> (Option<Record>, Option<Option<&'a Record>>) {
    let mut reached = version.cloned();
    for (from, to) in steps {
        match merged_over(from, reached.as_ref(), to, file, bytes) {
            Ok(merged) => reached = merged,
            Err(_) => return (reached, Some(from)),
        }
    }
    (reached, None)
}
