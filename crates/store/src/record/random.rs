//! Random records are decoded as they were encoded.

use std::sync::Arc;

use proptest::prelude::*;
use retake_core::{Fact, Mark, Marks, Part, Recalled, Source, Span, State};

use super::*;

fn any_mark() -> impl Strategy<Value = Mark> {
    prop::sample::select(Mark::ALL.to_vec())
}

fn any_part() -> impl Strategy<Value = Part> {
    let source =
        prop_oneof![any::<Vec<u8>>().prop_map(Source::Inline), any::<String>().prop_map(Source::Link),];
    prop_oneof![
        any::<String>().prop_map(Part::Text),
        (any::<String>(), source).prop_map(|(media_type, source)| Part::Image { media_type, source }),
        (any::<String>(), any::<Option<String>>())
            .prop_map(|(text, signature)| Part::Reasoning { text, signature }),
        (any::<String>(), any::<String>(), any::<String>())
            .prop_map(|(id, name, arguments)| { Part::ToolCall { id, name, arguments } }),
        (any::<String>(), any::<String>())
            .prop_map(|(name, arguments)| { Part::Repaired { name, arguments } }),
        prop::collection::vec((any::<String>(), any::<String>()), 0..3).prop_map(|facts| {
            Part::Facts(facts.into_iter().map(|(key, value)| Fact { key, value }).collect())
        }),
        prop::collection::vec("[0-9a-f]{12}", 0..3).prop_map(|ids| {
            Part::Recalled(ids.iter().map(|id| Recalled::new(id.parse().expect("an id"))).collect())
        }),
        Just(Part::Erased),
    ]
}

proptest! {
    #[test]
    fn any_content_is_read_back_unchanged(parts in prop::collection::vec(any_part(), 0..5)) {
        prop_assert_eq!(decode_parts(&encode_parts(&parts)), Ok(parts));
    }

    #[test]
    fn any_marks_are_read_back_unchanged(
        sets in prop::collection::vec((0u32..3, 1u64..1 << 33, 0u64..9, any_mark()), 0..60),
    ) {
        let ranges = sets.iter().map(|(depth, from, more, mark)| {
            (Span::new(*depth, *from, from + more), *mark)
        });
        let state = State { marks: Arc::new(Marks::from_ranges(ranges)), ..State::default() };
        prop_assert_eq!(decode_state(&encode_state(&state)), Ok(state));
    }
}
