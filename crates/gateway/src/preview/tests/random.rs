//! Random answers and outcomes: what must hold of every preview.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Write(String),
    Pass(i64),
    Outcome(u8, u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => "[a-z 😀é\n]{0,150}".prop_map(Step::Write),
        3 => (0_i64..4000).prop_map(Step::Pass),
        3 => (0_u8..12, 0_u8..30).prop_map(|(kind, seconds)| Step::Outcome(kind, seconds)),
    ]
}

fn way() -> impl Strategy<Value = Option<Streaming>> {
    prop::sample::select(vec![Some(Streaming::Draft), Some(Streaming::Append), Some(Streaming::Edit), None])
}

/// What the platform shows.
#[derive(Default)]
struct Platform {
    /// When calls took effect.
    done: Vec<i64>,
    hold: i64,
    is_calling: bool,
    shown: String,
    pending: String,
}

impl Platform {
    fn act(&mut self, action: Action, text: &str, now: i64) -> Result<(), TestCaseError> {
        self.pending = match action {
            Action::Nothing(_) => return Ok(()),
            Action::Post(end) | Action::Edit(end) | Action::Draft(end) => text[..end].to_owned(),
            Action::Append(from, end) => {
                prop_assert_eq!(&text[..from], &self.shown);
                text[..end].to_owned()
            }
            Action::Finish(_) => {
                prop_assert!(false, "it is not at its end");
                return Ok(());
            }
        };
        prop_assert!(!self.is_calling, "one call at a time");
        prop_assert!(now >= self.hold, "a call during a hold");
        self.is_calling = true;
        Ok(())
    }

    fn settle(&mut self, it: &mut Preview, kind: u8, seconds: u8, now: i64) {
        if !std::mem::take(&mut self.is_calling) {
            return;
        }
        let input = match kind {
            0 => {
                self.hold = self.hold.max(now + i64::from(seconds) * 1000);
                wait(u64::from(seconds))
            }
            1 => Input::Lost,
            2 => Input::Refused,
            3 => Input::Dropped,
            _ => {
                self.shown.clone_from(&self.pending);
                self.done.push(now);
                Input::Done
            }
        };
        it.step(input, now);
    }
}

proptest! {
    #[test]
    fn calls_keep_holds_and_the_final_text_comes_once(way in way(), steps in prop::collection::vec(step(), 0..60)) {
        let mut it = Preview::new(way, Audience::Private, 300, LengthUnit::Utf16);
        let (mut platform, mut text, mut now) = (Platform::default(), String::new(), 1000);
        for step in steps {
            match step {
                Step::Write(more) => text.push_str(&more),
                Step::Pass(time) => now += time,
                Step::Outcome(kind, seconds) => platform.settle(&mut it, kind, seconds, now),
            }
            let action = it.step(Input::Text(&text), now);
            platform.act(action, &text, now)?;
        }
        let mut action = it.step(Input::Complete(&text), now);
        if platform.is_calling {
            prop_assert_eq!(action, Action::Nothing(None));
            platform.shown.clone_from(&platform.pending);
            action = it.step(Input::Done, now);
        }
        if let Action::Nothing(Some(at)) = action {
            prop_assert!(at > now && at <= platform.hold);
            now = at;
            action = it.step(Input::Text(&text), now);
        }
        let Action::Finish(finish) = action else { panic!("no end: {action:?}") };
        prop_assert!(now >= platform.hold);
        match finish {
            Finish::Append(from) => prop_assert_eq!(&text[..from], &platform.shown),
            Finish::Edit | Finish::SendAndDelete | Finish::Delete => prop_assert!(it.has_post()),
            Finish::Send => prop_assert!(!it.has_post() && !text.trim().is_empty()),
            Finish::Nothing => prop_assert!(!it.has_post() && text.trim().is_empty()),
        }
        prop_assert_eq!(it.step(Input::Complete(&text), now), Action::Nothing(None));
        for pair in platform.done.windows(2) {
            prop_assert!(pair[1] - pair[0] >= 2000, "too many calls: {:?}", platform.done);
        }
    }
}
