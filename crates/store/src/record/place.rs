//! Columns with one small value: positions, flags, request ids. Never more than a number or a few bytes.

use retake_core::{Flags, Pos, RequestId};
use rusqlite::types::Value;
use uuid::Uuid;

use super::Decoded;

/// The bits of a packed position for the `seq`.
const SEQ_BITS: u32 = 40;

/// A position as one number whose order is the order of positions: `depth << 40 | seq`.
pub(crate) fn encode_pos(pos: Pos) -> i64 {
    assert!(
        pos.seq < 1 << SEQ_BITS && pos.depth < 1 << 23,
        "BUG: a log is shorter than 2^40 entries, a chain of forks than 2^23"
    );
    i64::from(pos.depth) << SEQ_BITS | i64::try_from(pos.seq).expect("BUG: 40 bits fit")
}

/// The position in this number.
pub(crate) fn decode_pos(packed: i64) -> Decoded<Pos> {
    let bad = || format!("{packed} is not a position");
    let depth = u32::try_from(packed >> SEQ_BITS).map_err(|_| bad())?;
    let seq = u64::try_from(packed & ((1 << SEQ_BITS) - 1)).map_err(|_| bad())?;
    if seq == 0 {
        return Err(bad());
    }
    Ok(Pos::new(depth, seq))
}

/// The bit for entries that begin a stretch, the highest one. Statements of the schema and of erasures
/// contain bits, too.
const RUN_BIT: i64 = 64;

/// Flags as bits, with two more bits for indexes.
pub(crate) fn encode_flags(flags: Flags, opens: bool, run: bool) -> i64 {
    let Flags { synthetic, observed, interrupted, detached, erased } = flags;
    let bits = [synthetic, observed, interrupted, detached, erased, opens, run];
    bits.into_iter().enumerate().map(|(bit, set)| i64::from(set) << bit).sum()
}

/// The flags in these bits.
pub(crate) fn decode_flags(bits: i64) -> Decoded<Flags> {
    if !(0..RUN_BIT * 2).contains(&bits) {
        return Err(format!("{bits} are not valid flags"));
    }
    let has = |bit: u32| bits & (1 << bit) != 0;
    Ok(Flags { synthetic: has(0), observed: has(1), interrupted: has(2), detached: has(3), erased: has(4) })
}

/// A request id: bytes if it is a UUID in the usual form, which most are; text otherwise.
pub(crate) fn encode_request(request: &RequestId) -> Value {
    match request.as_str().parse::<Uuid>() {
        Ok(uuid) if uuid.to_string() == request.as_str() => Value::Blob(uuid.as_bytes().to_vec()),
        _ => Value::Text(request.as_str().to_owned()),
    }
}

/// The request id in this value.
pub(crate) fn decode_request(value: Value) -> Decoded<Option<RequestId>> {
    let text = match value {
        Value::Null => return Ok(None),
        Value::Text(text) => text,
        Value::Blob(bytes) => Uuid::from_slice(&bytes)
            .map_err(|error| format!("its request id can't be read: {error}"))?
            .to_string(),
        Value::Integer(_) | Value::Real(_) => return Err("its request id is a number".to_owned()),
    };
    text.parse().map(Some).map_err(|error| format!("its request id can't be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERASED_BIT: i64 = 16;
    const OPENS_BIT: i64 = 32;

    #[test]
    fn positions_keep_their_order() {
        let rows = [Pos::new(0, 1), Pos::new(0, (1 << 40) - 1), Pos::new(1, 1), Pos::new((1 << 23) - 1, 7)];
        for pair in rows.windows(2) {
            assert!(encode_pos(pair[0]) < encode_pos(pair[1]));
        }
        for pos in rows {
            assert_eq!(decode_pos(encode_pos(pos)), Ok(pos));
        }
        assert!(decode_pos(0).is_err() && decode_pos(-1).is_err() && decode_pos(1 << 40).is_err());
    }

    #[test]
    fn flags_are_bits() {
        for bits in 0..128 {
            let flags = decode_flags(bits).unwrap();
            let back = encode_flags(flags, bits & OPENS_BIT != 0, bits & RUN_BIT != 0);
            assert_eq!(back, bits);
            assert_eq!(flags.erased, bits & ERASED_BIT != 0);
        }
        assert!(decode_flags(128).is_err() && decode_flags(-1).is_err());
    }

    #[test]
    fn request_ids_are_short_where_they_can_be() {
        let uuid = "019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b";
        let rows = [
            (uuid.to_owned(), true),
            (uuid.to_uppercase(), false),
            (uuid.replace('-', ""), false),
            ("a".to_owned(), false),
        ];
        for (text, packed) in rows {
            let id: RequestId = text.parse().unwrap();
            let value = encode_request(&id);
            assert_eq!(matches!(value, Value::Blob(_)), packed, "{text}");
            assert_eq!(decode_request(value), Ok(Some(id)));
        }
        assert!(decode_request(Value::Blob(vec![1])).is_err());
        assert!(decode_request(Value::Text("a b".into())).is_err());
        assert!(decode_request(Value::Integer(1)).is_err());
    }
}
