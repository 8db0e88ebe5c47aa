//! Pairing: a stranger gets a code, and an owner types it in a terminal. A code is bound to the platform's id, never to a name.

use retake_core::{ChatPerson, ChatRole, Time};

use crate::Engine;
use crate::error::{EngineError, Kind, Result};

/// The characters of codes: 32 that are not mistaken for each other.
const ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// How long a code is valid.
const VALID_MS: i64 = 10 * 60 * 1000;

/// How long a person waits for the next code.
const AGAIN_MS: i64 = 60 * 60 * 1000;

/// The most codes of an account that are valid at once.
const OPEN_MAX: usize = 3;

/// The number of wrong codes after which all are closed.
const WRONG_MAX: u32 = 5;

/// The name of the counter of wrong codes: no account has an empty name.
const COUNTER: &str = "";

impl Engine {
    /// A code for a stranger, at most one in an hour.
    pub(super) async fn pairing_code(
        &self,
        account: &str,
        person: &str,
        name: &str,
    ) -> Result<Option<String>> {
        let now = self.now();
        let known = self.store().chat_person(account.to_owned(), person.to_owned()).await?;
        if let Some(ChatPerson { role: ChatRole::Stranger { asked, .. }, .. }) = known
            && now.0.saturating_sub(asked.0) < AGAIN_MS
        {
            return Ok(None);
        }
        let people = self.store().chat_people(Some(account.to_owned())).await?;
        if people.iter().filter(|person| open_code(person, now).is_some()).count() >= OPEN_MAX {
            return Ok(None);
        }
        let code = self.random_code();
        let role =
            ChatRole::Stranger { code: Some((code, Time(now.0.saturating_add(VALID_MS)))), asked: now };
        let (account, person) = (account.to_owned(), person.to_owned());
        let name = retake_core::shorten(name, 60);
        self.store().set_chat_person(ChatPerson { account, person, name, role }).await?;
        Ok(Some(String::from_utf8_lossy(&code).into_owned()))
    }

    /// Eight characters, 40 random bits.
    fn random_code(&self) -> [u8; 8] {
        // The last bits of an id of version 7 are random, where its source has just begun.
        let bits = crate::ids::SystemRandom::default();
        let mut number = crate::ids::Random::uuid_v7(&bits, 1).as_u128();
        [(); 8].map(|()| {
            let at = usize::try_from(number % 32).unwrap_or(0);
            number /= 32;
            ALPHABET[at]
        })
    }

    /// Pairs the person with this code. After five wrong codes, all codes are closed.
    pub async fn pair(&self, code: &str, role: ChatRole) -> Result<()> {
        let now = self.now();
        let typed: String = code.chars().filter(|char| !char.is_whitespace() && *char != '-').collect();
        let typed = typed.to_ascii_uppercase();
        let people = self.store().chat_people(None).await?;
        let found =
            people.iter().find(|person| open_code(person, now).is_some_and(|code| code == typed.as_bytes()));
        let Some(found) = found else {
            if self.store().count_codes(COUNTER.to_owned(), false).await? >= WRONG_MAX {
                self.close_codes(&people).await?;
            }
            let what = "no person waits with this code";
            return Err(EngineError::new(Kind::NotFound, "no_code", what));
        };
        self.store().count_codes(COUNTER.to_owned(), true).await?;
        let person = ChatPerson { role, ..found.clone() };
        Ok(self.store().set_chat_person(person).await?)
    }

    async fn close_codes(&self, people: &[ChatPerson]) -> Result<()> {
        for person in people {
            if let ChatRole::Stranger { code: Some(_), asked } = person.role {
                let role = ChatRole::Stranger { code: None, asked };
                self.store().set_chat_person(ChatPerson { role, ..person.clone() }).await?;
            }
        }
        self.store().count_codes(COUNTER.to_owned(), true).await?;
        Ok(())
    }

    /// The people who are paired, or wait for it.
    pub async fn chat_people(&self) -> Result<Vec<ChatPerson>> {
        Ok(self.store().chat_people(None).await?)
    }

    /// Takes a person's rights away. Returns whether they had some.
    pub async fn unpair(&self, account: String, person: String) -> Result<bool> {
        let Some(known) = self.store().chat_person(account, person).await? else { return Ok(false) };
        let had = known.role.may_talk();
        let role = ChatRole::Stranger { code: None, asked: self.now() };
        self.store().set_chat_person(ChatPerson { role, ..known }).await?;
        Ok(had)
    }
}

/// The code of a person, while it is valid.
fn open_code(person: &ChatPerson, now: Time) -> Option<[u8; 8]> {
    match person.role {
        ChatRole::Stranger { code: Some((code, until)), .. } if now < until => Some(code),
        _ => None,
    }
}
