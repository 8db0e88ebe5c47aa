//! What must hold when everything has come to rest: of the path, of the chat, and of the ledger, each compared with the others and
//! with the naive model.

use std::collections::{BTreeMap, BTreeSet};

use retake_wire::Role;
use retake_wire::chat::{ChatNotice, ChatStep, PostKind, PostLine, PostStatus};
use retake_wire::reply::Entry;

use super::super::world::text;
use super::owner::{lock, tokens};
use super::platform::Post;
use super::play::{PLACES, Play, STRANGE, place};
use super::talk::Wording;

/// What is there.
pub(super) struct Seen {
    paths: Vec<Vec<Entry>>,
    /// The ledger.
    pub(super) posts: Vec<PostLine>,
    /// The posts in the chat.
    shown: Vec<Post>,
    notices: BTreeMap<String, ChatNotice>,
    /// The places of the answers, by their numbers.
    places: Vec<Option<usize>>,
}

impl Seen {
    pub(super) async fn now(play: &Play) -> Self {
        let paths = play.door.paths().await.expect("an owner");
        let posts = play.door.posts().await.expect("an owner");
        let shown = play.platform.inside().posts.iter().filter(|post| post.is_there).cloned().collect();
        let notices = lock(&play.door.notices).clone();
        let answers = play.door.echo.answers();
        let places = answers.iter().map(|answer| answer.to.first().map(|wording| wording.place)).collect();
        Self { paths, posts, shown, notices, places }
    }

    /// The parts of answers on the path, each with its entry.
    fn on_path(&self) -> BTreeMap<(usize, usize), &str> {
        let answers = self.paths.iter().flatten().filter(|entry| entry.role == Role::Assistant);
        answers
            .flat_map(|entry| tokens(&text(entry)).into_iter().map(|token| (token, entry.id.as_str())))
            .collect()
    }

    /// Whether a deletion of a post was asked about: its answer may be lost.
    fn is_asked(play: &Play, row: &PostLine) -> bool {
        lock(&play.door.watch).asked_ms.contains_key(&row.post)
    }

    /// Whether nothing is to be done for a post any more, if the chat does not change.
    pub(super) fn is_over(play: &Play, row: &PostLine) -> bool {
        match row.state {
            PostStatus::Planned | PostStatus::Sending | PostStatus::Deleting => false,
            // A platform that recognises posts loses none: only an answer about a deletion, before an undo.
            PostStatus::Unknown => play.platform.is_blind() || Self::is_asked(play, row),
            _ => true,
        }
    }

    /// Parts of answers on the path that are shown, and what the ledger says of them.
    fn differences(&self) -> Vec<String> {
        let (on_path, shown) = (self.on_path(), self.shown());
        let there = on_path.iter().filter(|(token, _)| shown.contains_key(*token));
        let row = |((answer, part), entry): (&(usize, usize), &&str)| {
            let rows = self.posts.iter().filter(|it| it.entry.as_deref() == Some(*entry));
            let rows: Vec<_> = rows.map(|row| (row.post.clone(), row.part, row.state)).collect();
            let is_told = rows
                .iter()
                .any(|(_, of, state)| usize::try_from(*of) == Ok(part + 1) && *state == PostStatus::Sent);
            (!is_told).then(|| format!("A{answer}.{part}: {rows:?}"))
        };
        there.filter_map(row).collect()
    }

    /// How often each part of an answer is shown.
    fn shown(&self) -> BTreeMap<(usize, usize), Vec<&Post>> {
        let mut all: BTreeMap<_, Vec<&Post>> = BTreeMap::new();
        for post in &self.shown {
            tokens(&post.text).into_iter().for_each(|token| all.entry(token).or_default().push(post));
        }
        all
    }

    /// The ids of shown posts of answers in a place, with whether they are on the path.
    fn of_place(&self, number: usize) -> BTreeMap<&str, bool> {
        let on_path = self.on_path();
        let place = place(number);
        let posts = self.shown.iter().filter(|post| post.place == place);
        posts
            .filter_map(|post| {
                let token = tokens(&post.text).into_iter().next()?;
                Some((post.id.as_str(), on_path.contains_key(&token)))
            })
            .collect()
    }
}

/// Checks everything.
pub(super) async fn all(play: &Play) {
    let seen = Seen::now(play).await;
    assert_eq!(play.platform.inside().broken, Vec::<String>::new());
    paths(play, &seen);
    answers(play, &seen);
    posts(play, &seen);
    ledger(play, &seen);
}

/// The messages on the path are those of the model, and each conversation has those of one place.
fn paths(play: &Play, seen: &Seen) {
    let mut found: [Vec<Wording>; PLACES] = Default::default();
    for path in &seen.paths {
        let said: Vec<Wording> =
            path.iter().filter(|it| it.role == Role::User).flat_map(|it| Wording::all(&text(it))).collect();
        let places: BTreeSet<usize> = said.iter().map(|wording| wording.place).collect();
        assert!(places.len() <= 1, "messages of several places are in one conversation: {said:?}");
        if let Some(place) = places.first() {
            assert!(*place < PLACES, "a stranger is heard");
            assert!(found[*place].is_empty(), "place {place} has two conversations");
            found[*place] = said;
        }
    }
    for (number, found) in found.iter().enumerate() {
        let once: BTreeSet<usize> = found.iter().map(|wording| wording.message).collect();
        assert_eq!(once.len(), found.len(), "place {number}: a message is there twice: {found:?}");
        if play.is_exact[number] {
            let shown = |all: &[Wording]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
            let (found, expected) = (shown(found), shown(&play.talks[number].wordings()));
            assert_eq!(found, expected, "place {number}: {:?}", play.talks[number].wanted);
        }
    }
}

/// Each message on the path is answered, and none twice.
fn answers(play: &Play, seen: &Seen) {
    let all = play.door.echo.answers();
    for answer in all.iter() {
        let places: BTreeSet<usize> = answer.seen.iter().map(|wording| wording.place).collect();
        assert!(places.len() <= 1 && !places.contains(&STRANGE), "the model saw several places: {answer:?}");
    }
    let numbers: BTreeSet<usize> = seen.on_path().keys().map(|(answer, _)| *answer).collect();
    let mut answered: Vec<Wording> = numbers.iter().flat_map(|number| all[*number].to.clone()).collect();
    answered.sort_unstable();
    let twice = answered.windows(2).find(|two| two[0] == two[1]);
    assert_eq!(twice, None, "a message on the path is answered twice");
    let users = seen.paths.iter().flatten().filter(|entry| entry.role == Role::User);
    for wording in users.flat_map(|entry| Wording::all(&text(entry))) {
        let to: Vec<usize> = (0..all.len()).filter(|number| all[*number].to.contains(&wording)).collect();
        let is_complete = to.iter().any(|number| numbers.contains(number));
        assert!(!to.is_empty(), "{wording} is not answered");
        if play.is_exact[wording.place] && play.talks[wording.place].steps == 0 {
            assert!(
                is_complete && to.len() == 1,
                "{wording} is answered by {to:?}, of them on the path: {is_complete}"
            );
        }
    }
}

/// The chat shows each part of the answers on the path once, and of the others only what the ledger reports.
fn posts(play: &Play, seen: &Seen) {
    let (on_path, shown) = (seen.on_path(), seen.shown());
    let is_blind = play.platform.is_blind();
    for ((answer, part), posts) in &shown {
        let number = seen.places[*answer].expect("it answers somebody");
        for post in posts {
            assert_eq!(post.place, place(number), "A{answer}.{part} is in another place");
        }
        assert!(
            posts.len() == 1 || (is_blind && posts.len() == 2),
            "A{answer}.{part} is shown {} times: {:?} {:?}",
            posts.len(),
            posts.iter().map(|post| (&post.id, &post.text)).collect::<Vec<_>>(),
            seen.posts
                .iter()
                .filter(|row| posts.iter().any(|post| post.place == row.place))
                .map(|row| (&row.post, row.kind, row.part, row.state))
                .collect::<Vec<_>>()
        );
    }
    for ((answer, part), entry) in &on_path {
        if shown.contains_key(&(*answer, *part)) {
            continue;
        }
        let row_of = |part: usize| {
            let is_row = |it: &&PostLine| {
                it.entry.as_deref() == Some(entry) && usize::try_from(it.part) == Ok(part + 1)
            };
            seen.posts.iter().find(is_row)
        };
        // An answer that may not be posted at all is one row.
        let row =
            row_of(*part).or_else(|| row_of(0).filter(|it| matches!(it.state, PostStatus::Failed { .. })));
        let before = || {
            let rows = seen.posts.iter().filter(|it| it.entry.as_deref() == Some(entry));
            rows.map(|row| (row.part, row.state)).collect::<Vec<_>>()
        };
        let is_told = row.is_some_and(|row| match row.state {
            PostStatus::Gone { .. } | PostStatus::Failed { .. } => true,
            PostStatus::Unknown => Seen::is_over(play, row),
            _ => false,
        });
        assert!(is_told, "A{answer}.{part} is on the path and not shown: {:?}", before());
    }
}

/// The ledger's counts are those of the chat.
fn ledger(play: &Play, seen: &Seen) {
    let is_shown = |it: &&PostLine| it.kind == PostKind::Preview && it.state == PostStatus::Sent;
    let shown_while_written: Vec<&PostLine> = seen.posts.iter().filter(is_shown).collect();
    assert!(shown_while_written.is_empty(), "no answer is being written: {shown_while_written:?}");
    let on_path: BTreeSet<(usize, usize)> = seen.on_path().into_keys().collect();
    let shown = seen.shown();
    let rows = |is: fn(PostStatus) -> bool| {
        seen.posts.iter().filter(|it| it.kind == PostKind::Answer && is(it.state)).count()
    };
    let (sent, stays) =
        (rows(|state| state == PostStatus::Sent), rows(|state| matches!(state, PostStatus::Stays { .. })));
    let count = |is_on_path: bool| {
        let some = shown.iter().filter(|(token, _)| on_path.contains(token) == is_on_path);
        some.map(|(_, posts)| posts.len()).sum::<usize>()
    };
    let (there, left) = (count(true), count(false));
    match play.platform.is_blind() {
        // A post whose answer was lost may be there twice, or once and unknown.
        true => {
            assert!(sent + stays <= there + left, "{sent} and {stays} rows, {there} and {left} in the chat");
        }
        false => {
            let unknown = seen.posts.iter().filter(|it| it.state == PostStatus::Unknown);
            let (asked, others): (Vec<_>, Vec<_>) = unknown.partition(|row| Seen::is_asked(play, row));
            assert_eq!(others, Vec::<&PostLine>::new());
            assert!(
                (sent..=sent + asked.len()).contains(&there) && (stays..=stays + asked.len()).contains(&left),
                "sent {sent}, stay {stays}, unknown {}; and the chat: {there}, {left}: {:?}",
                asked.len(),
                seen.differences()
            );
        }
    }
}

/// The notice of a rewind in a place counts what became of its posts. Returns whether there was one.
pub(super) fn counts(before: &Seen, after: &Seen, number: usize, is_blind: bool) -> bool {
    let place = place(number);
    // A notice that was taken by the gateway and then cancelled was never sent.
    let is_new = |line: &&PostLine| {
        line.place == place && !before.notices.contains_key(&line.post) && line.state != PostStatus::Cancelled
    };
    let notices = after.posts.iter().filter(is_new).filter_map(|line| after.notices.get(&line.post));
    let mut steps = notices.filter_map(|notice| match notice {
        ChatNotice::Step { step: ChatStep::Rewind, posts, .. } => Some(posts),
        _ => None,
    });
    let Some(posts) = steps.next() else { return false };
    let second = steps.next();
    assert!(second.is_none(), "two notices of one rewind: {posts:?} {second:?} {:?}", after.posts);
    let (old, new) = (before.of_place(number), after.of_place(number));
    let gone = old.keys().filter(|id| !new.contains_key(*id)).count();
    let left = |of: &BTreeMap<&str, bool>| of.values().filter(|is_on_path| !**is_on_path).count();
    let stays: u32 = posts.stays.iter().map(|stays| stays.count).sum();
    let found = (gone, left(&new) - left(&old));
    let told = (posts.gone as usize, stays as usize);
    // They may have been gone before.
    let is_unknown = |line: &&PostLine| line.place == place && line.state == PostStatus::Unknown;
    let unknown = before.posts.iter().filter(is_unknown).count();
    // A notice is edited once. What was still tried then is in the ledger later.
    let trying = posts.trying as usize;
    let all = told.0 + told.1 + trying;
    // Nobody knows of these; the chat does.
    let doubt = posts.unknown as usize;
    let there = found.0 + found.1;
    let is_said = told.1 <= found.1
        && told.0 <= found.0 + unknown
        && (there.saturating_sub(doubt)..=there + unknown).contains(&all)
        && (trying + doubt > 0 || told.1 == found.1);
    assert!(is_said || is_blind, "the notice says {told:?}, and the chat {found:?}: {posts:?}");
    posts.sum() > 0
}
