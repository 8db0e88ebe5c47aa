//! The model of a tab: chosen by name, or the one that the conversation used before. Must never change a person's choice without
//! a notice.

use retake_wire::Request;
use retake_wire::reply::Models;

use super::{App, RequestPurpose, Requester};
use crate::models::{ContinuedModel, ModelAvailability, goes_on, known};
use crate::text::safe;
use crate::ui::keymap::Command;
use crate::ui::msg::TabId;

impl App {
    /// Uses the model with this name next. If there is none, shows a notice once that is known.
    pub(super) fn choose_model(&mut self, name: &str) {
        let name = name.trim().to_owned();
        // Messages sent meanwhile are for the new model.
        let tab = self.tab_mut();
        let before = tab.model.name.replace(name.clone());
        tab.model.is_settled = true;
        let id = tab.id;
        self.ask(Requester::Tab(id, RequestPurpose::Model(name, before)), Request::Models);
    }

    /// Whether the chosen model exists; if not, the previous one is restored.
    pub(super) fn model_looked_up(&mut self, id: TabId, name: &str, before: Option<String>, models: Models) {
        let known = known(&models, name);
        self.models_are(models);
        let shown = safe::line(name).into_owned();
        match known {
            ModelAvailability::Listed => self.say(format!("the next answers come from {shown}")),
            ModelAvailability::Unlisted(what) => {
                self.say(format!("the next answers come from {shown}; {what}"));
            }
            ModelAvailability::Unusable(why) => {
                self.refuse(format!("the next answers come from {shown}, but: {why}"));
            }
            ModelAvailability::Nowhere(hint) => {
                if let Some(tab) = self.find_tab(id).filter(|tab| tab.model.name.as_deref() == Some(name)) {
                    tab.model.name = before;
                }
                let models = self.keys.named(Command::Model);
                self.refuse(format!("there is no model “{shown}”: {models} lists them; {hint}"));
            }
        }
    }

    /// These models are available.
    pub(super) fn models_are(&mut self, models: Models) {
        self.models = Some(models);
        for at in 0..self.tabs.len() {
            self.goes_on_with(at);
        }
    }

    /// Finds out once which model an opened conversation continues with.
    pub(super) fn goes_on_with(&mut self, at: usize) {
        let Some(models) = &self.models else { return };
        let tab = &mut self.tabs[at];
        if tab.model.is_settled || tab.talk.conversation.is_none() || tab.talk.entries.is_empty() {
            return;
        }
        tab.model.is_settled = true;
        match goes_on(models, &tab.talk.entries) {
            ContinuedModel::Usual => {}
            ContinuedModel::With(model) => {
                let choose = self.keys.named(Command::Model);
                let says =
                    format!("{} answers here, as before: {choose} chooses another", safe::line(&model));
                tab.model.name = Some(model);
                self.say(says);
            }
            ContinuedModel::Gone(says) => self.refuse(says),
        }
    }
}
