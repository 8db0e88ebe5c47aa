//! The command about memory: shows the remembered facts, or changes them by an entry of the conversation.

use retake_wire::Request;
use retake_wire::request::{EditMemory, Forget, ListMemory, Remember};

use super::App;
use super::requests::{RequestPurpose, Requester};
use crate::ui::page::Page;

/// What can be typed after the command.
const USAGE: &str =
    "type /memory, /memory WORDS, /memory add TEXT, /memory edit ID TEXT or /memory forget ID";

impl App {
    /// Shows the facts that count in this folder, or changes memory in this conversation.
    pub(super) fn memory(&mut self, words: &str) {
        let (verb, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let rest = rest.trim();
        match (verb, rest.split_once(char::is_whitespace)) {
            ("add" | "edit" | "forget", _) if rest.is_empty() => self.refuse(USAGE),
            ("add", _) => {
                let text = rest.to_owned();
                self.change_memory(words, |conversation| {
                    Request::Remember(Remember { conversation, text, ..Remember::default() })
                });
            }
            ("edit", Some((fact, text))) => {
                let (fact, text) = (fact.to_owned(), text.trim().to_owned());
                self.change_memory(words, |conversation| {
                    Request::EditMemory(EditMemory { conversation, fact, text, request_id: None })
                });
            }
            ("forget", None) => {
                let fact = rest.to_owned();
                self.change_memory(words, |conversation| {
                    Request::Forget(Forget { conversation, fact, request_id: None })
                });
            }
            ("edit" | "forget", _) => self.refuse(USAGE),
            _ => {
                let query = Some(words.to_owned()).filter(|words| !words.is_empty());
                let folder = Some(self.known.folder.clone());
                let conversation = self.tab().conversation();
                let list = ListMemory { conversation, folder, query, limit: None };
                self.open(Page::new("Memory", Request::ListMemory(list)));
            }
        }
    }

    /// Sends a change. Before the first message there is no conversation for it: the command returns to the composer.
    fn change_memory(&mut self, words: &str, request: impl FnOnce(String) -> Request) {
        match self.tab().conversation() {
            Some(conversation) => {
                self.ask(Requester::Tab(self.tab().id, RequestPurpose::Nothing), request(conversation));
            }
            None => {
                self.tab_mut().composer.set_text(&format!("/memory {words}"));
                self.refuse("a fact belongs to a conversation: say something first");
            }
        }
    }
}
