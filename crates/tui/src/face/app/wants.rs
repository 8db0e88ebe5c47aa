//! What panes want done. Must never do it in another tab than the pane's.

use super::tab::Rewriting;
use super::{App, Asked};
use crate::face::msg::{TabId, Want};
use crate::face::plan::PlanPane;

impl App {
    pub(super) fn want(&mut self, id: TabId, want: Want) {
        match want {
            Want::Close => {
                if let Some(tab) = self.find_tab(id) {
                    tab.pane = None;
                }
                self.asked.retain(|_, asked| !matches!(asked, Asked::Pane(of) if *of == id));
            }
            Want::Plan(title, action) => self.open_pane(id, Box::new(PlanPane::new(title, *action))),
            Want::Applied(action, receipt) => self.applied(id, &action, &receipt),
            Want::Say(text) => self.say(text),
            Want::Complain(problem) => self.complain_in(id, &problem),
            Want::Show { conversation, entry } => {
                self.want(id, Want::Close);
                self.show(id, &conversation, entry);
            }
            Want::ShowBeside { conversation, entry } => {
                self.want(id, Want::Close);
                let tab = self.open_tab();
                self.show(tab, &conversation, entry);
            }
            Want::Rewrite { entry, head, parts, files } => {
                self.returned(id, &parts);
                if let Some(tab) = self.find_tab(id) {
                    tab.select(false);
                    tab.rewriting = Some(Rewriting { entry, head, files });
                }
                self.say("edit it and send it in the place of the old one; Esc leaves it as it was");
            }
            Want::Run(mut run) => {
                if let Some(tab) = self.find_tab(id) {
                    tab.select(false);
                    tab.view.to_end();
                    run.model = run.model.or_else(|| tab.model.clone());
                }
                self.run(id, *run);
            }
            Want::Model(model) => {
                if let Some(tab) = self.find_tab(id) {
                    tab.model.clone_from(&model);
                }
                match model {
                    Some(model) => self.say(format!("the next answers come from {model}")),
                    None => self.say("the next answers come from the model of the settings"),
                }
            }
            Want::Mode(mode) => {
                let conversation = self.find_tab(id).and_then(|tab| tab.conversation());
                self.set_mode(mode, conversation);
            }
        }
    }
}
