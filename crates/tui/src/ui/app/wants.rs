//! What panes want done. Must never do it in another tab than the pane's.

use retake_wire::Action;

use super::App;
use super::tab::{Rewriting, Tab};
use crate::ui::fork::ForkPane;
use crate::ui::keymap::{Command, Context};
use crate::ui::msg::{PaneInstruction, TabId};
use crate::ui::plan::PlanPane;

impl App {
    /// An action applied to the conversation, so the conversation is shown next. A person who steps through operations stays
    /// in their list.
    fn applied_from(&mut self, id: TabId, action: &Action) {
        let is_step = matches!(action, Action::Undo { .. } | Action::Redo { .. });
        if !(is_step && self.find_tab(id).is_some_and(|tab| tab.panes.holds(Context::Ops))) {
            self.close_behind(id);
        }
    }

    fn close_behind(&mut self, id: TabId) {
        if let Some(tab) = self.find_tab(id) {
            tab.panes.close_behind();
        }
        self.forget_closed(id);
    }

    /// The next runs of a tab use this model.
    fn use_model(&mut self, id: TabId, model: Option<String>) {
        if let Some(tab) = self.find_tab(id) {
            tab.model.name.clone_from(&model);
            tab.model.is_settled = true;
        }
        match model {
            Some(model) => self.say(format!("the next answers come from {model}")),
            None => self.say("the next answers come from the model of the settings"),
        }
    }

    /// Runs a command that was chosen in the help; one that needs words is put into the composer, so that they can be typed.
    fn chosen(&mut self, command: Command) {
        let row = command.row();
        let needs_words = row.takes.is_some_and(|takes| !takes.is_empty() && !takes.starts_with('['));
        if !needs_words {
            return self.command(command, "");
        }
        let now_ms = self.now_ms;
        let tab = self.tab_mut();
        if !tab.composer.is_empty() {
            tab.composer.set_aside();
        }
        tab.composer.set_text(&format!("/{} ", row.typed_name()));
        tab.draft.typed(now_ms);
    }

    pub(super) fn want(&mut self, id: TabId, want: PaneInstruction) {
        match want {
            PaneInstruction::Close => {
                if let Some(tab) = self.find_tab(id) {
                    tab.panes.close();
                }
                self.forget_closed(id);
            }
            PaneInstruction::Leave => self.leave(),
            PaneInstruction::Plan(title, action) => {
                self.open_pane(id, Box::new(PlanPane::new(title, *action)));
            }
            PaneInstruction::Fork(entry) => self.open_pane(id, Box::new(ForkPane::new(Some(entry)))),
            PaneInstruction::Applied(action, receipt) => {
                self.applied_from(id, &action);
                self.applied(id, &action, &receipt);
            }
            PaneInstruction::Returned(parts) => self.returned(id, &parts),
            PaneInstruction::Say(text) => self.say(text),
            PaneInstruction::Complain(problem) => self.complain_in(id, &problem),
            PaneInstruction::Show { conversation, entry } => {
                if let Some(tab) = self.find_tab(id) {
                    let left = tab.panes.leave();
                    tab.panes.left = if entry.is_some() { left } else { Vec::new() };
                }
                self.forget_closed(id);
                self.show(id, &conversation, entry);
            }
            PaneInstruction::ShowBeside { conversation, entry } => {
                self.close_behind(id);
                self.want(id, PaneInstruction::Close);
                // Whoever comes back to this tab types.
                self.find_tab(id).into_iter().for_each(|tab| tab.select(false));
                let tab = self.open_tab();
                self.show(tab, &conversation, entry);
            }
            PaneInstruction::Rewrite { entry, head, parts, files, takes_back } => {
                self.close_behind(id);
                // If a new wording is being written already, it continues.
                let now_ms = self.now_ms;
                let is_written = |tab: &Tab| {
                    !tab.composer.is_empty()
                        && tab.outgoing.rewriting.as_ref().is_some_and(|it| it.entry == entry)
                };
                match self.find_tab(id).filter(|tab| is_written(tab)) {
                    Some(tab) => tab.presses.stepped(now_ms),
                    None => self.returned(id, &parts),
                }
                if let Some(tab) = self.find_tab(id) {
                    tab.select(false);
                    tab.outgoing.rewriting =
                        Some(Rewriting { entry, head, files, takes_back, is_stale: false });
                }
            }
            PaneInstruction::Quote(words) => {
                self.close_behind(id);
                self.want(id, PaneInstruction::Close);
                self.quote(id, &words);
            }
            PaneInstruction::Run(mut run) => {
                self.close_behind(id);
                if let Some(tab) = self.find_tab(id) {
                    tab.select(false);
                    tab.view.to_end();
                    run.model = run.model.or_else(|| tab.model.name.clone());
                }
                self.run(id, *run);
            }
            PaneInstruction::Model(model) => self.use_model(id, model),
            PaneInstruction::Theme(name, lasts) => self.use_theme(&name, lasts),
            PaneInstruction::Mode(mode) => {
                let conversation = self.find_tab(id).and_then(|tab| tab.conversation());
                self.set_mode(mode, conversation);
            }
            PaneInstruction::Command(command) => {
                self.close_behind(id);
                self.want(id, PaneInstruction::Close);
                if self.tab().id == id {
                    self.chosen(command);
                }
            }
        }
    }
}
