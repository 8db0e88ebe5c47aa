//! What a destination knows, as stored: `[op, seq, said, run]`.

use retake_core::{Claim, Head, OutboxFailure, OwedKind, RunNo, Seq, Told};

use super::{Decoded, from_json, to_json};

/// Encodes what a destination knows.
pub(crate) fn encode_told(told: Told) -> String {
    to_json(&[told.head.op.0, told.head.seq.0, told.said.0, told.run.0])
}

/// What this text says that a destination knows.
pub(crate) fn decode_told(json: &str) -> Decoded<Told> {
    let [op, seq, said, run]: [u64; 4] = from_json("place", json)?;
    Ok(Told { head: Head::new(op, seq), said: Seq(said), run: RunNo(run) })
}

/// Encodes a claimed delivery: its kind, and what the destination knows after it.
pub(crate) fn encode_claim(claim: Claim) -> String {
    let Told { head, said, run } = claim.until;
    to_json(&(claim.kind.name(), [head.op.0, head.seq.0, said.0, run.0]))
}

/// The claimed delivery in this text.
pub(crate) fn decode_claim(json: &str) -> Decoded<Claim> {
    let (kind, [op, seq, said, run]): (String, [u64; 4]) = from_json("claimed delivery", json)?;
    let kind = OwedKind::from_name(&kind).ok_or_else(|| format!("“{kind}” is not a kind of delivery"))?;
    Ok(Claim { kind, until: Told { head: Head::new(op, seq), said: Seq(said), run: RunNo(run) } })
}

/// The failure with this stored name.
pub(crate) fn decode_failure(name: &str) -> Decoded<OutboxFailure> {
    OutboxFailure::from_name(name).ok_or_else(|| format!("“{name}” is not a failure of a delivery"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_destination_knows_is_four_numbers() {
        let told = Told { head: Head::new(3, 9), said: Seq(7), run: RunNo(2) };
        assert_eq!(encode_told(told), "[3,9,7,2]");
        assert_eq!(decode_told("[3,9,7,2]"), Ok(told));
        assert!(decode_told("[3,9,7]").is_err() && decode_told("[3,9,7,-2]").is_err());
        for kind in ["said", "operation", "turn-ended"] {
            let stored = format!(r#"["{kind}",[3,9,7,2]]"#);
            let claim = decode_claim(&stored).expect("a claim");
            assert_eq!((claim.until, encode_claim(claim)), (told, stored));
        }
        assert!(decode_claim(r#"["gone",[3,9,7,2]]"#).is_err());
        assert_eq!(decode_failure("too-old"), Ok(OutboxFailure::TooOld));
        assert!(decode_failure("TooOld").is_err());
    }
}
