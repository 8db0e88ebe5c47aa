//! The branches of the conversation as a graph: view one, compare it, check it out, label it, fork it, quote its conclusion. It
//! also shows the forks of the conversation. Must never check out by itself: the plan comes first.

mod carry;
mod drawn;
mod graph;
#[cfg(test)]
mod tests;
mod there;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use retake_wire::reply::{Branch, ForkLine, Line, SubagentLine, Tree as Shape};
use retake_wire::request::{self, LARGEST_PAGE, Plan};
use retake_wire::{Action, FileOptions, Problem, Reply, Request, Scope};

use super::keymap::{Command, Context};
use super::msg::{PaneInstruction, Ticket};
use super::pane::{Cx, Pane, PaneContext};
use super::pane_frame::{NameInput, PaneFrame, told};
use super::preview::{Preview, last_of};
use super::rows::{Filtering, InputEffect, Order, Row, Rows};
use super::scroll::ReplyDisplay;
use drawn::{draw, is_one};
use graph::{GraphRow, GraphRowKind};
use there::there;

/// Messages of the current branch in its preview.
const LAST: usize = 6;

/// The tree.
#[derive(Debug)]
pub(crate) struct Tree {
    rows: Rows<Node>,
    /// Number of lanes of the graph.
    lanes: usize,
    head: String,
    loading: Option<Ticket>,
    /// The pages so far, while there are more.
    before: Option<Shape>,
    wrong: Option<Problem>,
    naming: Option<NameInput>,
    /// The requested change, and the notice after it.
    doing: Option<(Ticket, TreeChange)>,
    /// The preview shows a comparison, not messages.
    compares: bool,
    preview: Preview,
}

/// A requested change of the tree.
#[derive(Clone, Copy, Debug)]
enum TreeChange {
    /// A label for an entry.
    Label,
    /// A branch's conclusion, for this one.
    CarryOver,
}

/// A row.
#[derive(Debug)]
struct Node {
    key: String,
    lanes: String,
    is: NodeKind,
}

#[derive(Debug)]
enum NodeKind {
    Tip(Box<Branch>),
    Parting(Line),
    /// The start, and whether the conversation is there.
    Beginning(bool),
    Heading(&'static str),
    /// A fork of this conversation, and the entry it follows.
    Fork(ForkLine, Option<Line>),
    /// A subagent.
    Subagent(SubagentLine),
}

impl Row for Node {
    fn key(&self) -> &str {
        &self.key
    }

    fn fields(&self) -> Vec<String> {
        let preview = |line: &Line| line.preview.clone();
        match &self.is {
            NodeKind::Tip(it) => {
                let begins = it.called.as_ref().map(preview).unwrap_or_default();
                let ends = if is_one(it) { String::new() } else { preview(&it.last) };
                vec![begins, ends, it.label.clone().unwrap_or_default()]
            }
            NodeKind::Beginning(_) => vec!["the beginning".to_owned()],
            NodeKind::Fork(fork, _) => vec![fork.title.clone()],
            NodeKind::Subagent(subagent) => vec![subagent.title.clone()],
            NodeKind::Parting(_) | NodeKind::Heading(_) => Vec::new(),
        }
    }

    fn filtering(&self) -> Filtering {
        match self.is {
            NodeKind::Tip(_) | NodeKind::Beginning(_) | NodeKind::Fork(..) | NodeKind::Subagent(_) => {
                Filtering::Filtered
            }
            NodeKind::Parting(_) | NodeKind::Heading(_) => Filtering::Between,
        }
    }
}

impl Tree {
    /// The branches of the tab's conversation.
    pub(crate) fn new() -> Self {
        Self {
            rows: Rows::new(Order::Kept),
            lanes: 0,
            head: String::new(),
            loading: None,
            before: None,
            wrong: None,
            naming: None,
            doing: None,
            compares: false,
            preview: Preview::default(),
        }
    }

    fn load(&mut self, cx: &mut Cx<'_>) {
        self.before = None;
        self.load_page(None, cx);
    }

    fn load_page(&mut self, after: Option<String>, cx: &mut Cx<'_>) {
        let page = request::Tree { conversation: cx.id(), limit: Some(LARGEST_PAGE), after };
        self.loading = Some(cx.ask(Request::Tree(page)));
    }

    fn loaded(&mut self, tree: Shape) {
        let first = self.rows.is_empty();
        let here = tree.branches.iter().find(|branch| branch.current).map(|branch| branch.leaf.clone());
        let node = |GraphRow { lanes, what }| match what {
            GraphRowKind::Tip(at) => {
                let branch = tree.branches[at].clone();
                // If the tip is no leaf, another branch may continue after it.
                Node {
                    key: format!("{}{}", branch.leaf, branch.own),
                    lanes,
                    is: NodeKind::Tip(Box::new(branch)),
                }
            }
            GraphRowKind::Parting(line) => {
                Node { key: format!("-{}", line.id), lanes, is: NodeKind::Parting(line) }
            }
            GraphRowKind::Beginning => {
                Node { key: "beginning".to_owned(), lanes, is: NodeKind::Beginning(here.is_none()) }
            }
        };
        let mut nodes: Vec<Node> = graph::graph(&tree.branches).into_iter().map(node).collect();
        if !tree.forks.is_empty() {
            nodes.push(Node {
                key: "-forks".to_owned(),
                lanes: String::new(),
                is: NodeKind::Heading("── conversations that began as forks of this one"),
            });
        }
        let lines = || {
            let of = |it: &Branch| [it.from.clone(), it.first.clone(), Some(it.last.clone())];
            tree.branches.iter().flat_map(of).flatten()
        };
        nodes.extend(tree.forks.into_iter().map(|fork| {
            let after = fork.from.as_ref().and_then(|from| lines().find(|line| line.id == *from));
            Node { key: fork.conversation.clone(), lanes: String::new(), is: NodeKind::Fork(fork, after) }
        }));
        if !tree.subagents.is_empty() {
            nodes.push(Node {
                key: "-subagents".to_owned(),
                lanes: String::new(),
                is: NodeKind::Heading("── subagents that answers on the path have started"),
            });
        }
        nodes.extend(tree.subagents.into_iter().map(|subagent| Node {
            key: subagent.conversation.clone(),
            lanes: String::new(),
            is: NodeKind::Subagent(subagent),
        }));
        self.lanes = nodes.iter().map(|node| node.lanes.chars().count()).max().unwrap_or(0);
        self.head = tree.head;
        self.rows.set(nodes);
        let current = self.rows.items().find(|node| match &node.is {
            NodeKind::Tip(branch) => branch.current,
            NodeKind::Beginning(here) => *here,
            _ => false,
        });
        if let Some(key) = current.map(|node| node.key.clone()).filter(|_| first) {
            self.rows.select(&key);
        }
    }

    /// Shows the preview of the selected row.
    fn look(&mut self, cx: &mut Cx<'_>) {
        let Some(node) = self.rows.selected() else { return self.preview.say("") };
        let conversation = cx.id();
        let (about, manner, log) = match &node.is {
            NodeKind::Fork(..) | NodeKind::Subagent(_) if self.compares => {
                self.preview.head("a separate conversation:".to_owned());
                return self.preview.say(
                    "it can't be compared with this one: only branches of one conversation are; open it to read it",
                );
            }
            NodeKind::Fork(fork, _) => {
                let log = last_of(&fork.conversation, LAST);
                ("a separate conversation:".to_owned(), ReplyDisplay::Plain, log)
            }
            NodeKind::Subagent(subagent) => {
                let log = last_of(&subagent.conversation, LAST);
                ("a subagent of this conversation:".to_owned(), ReplyDisplay::Plain, log)
            }
            NodeKind::Tip(branch) if branch.current => {
                ("you are here:".to_owned(), ReplyDisplay::Plain, last_of(&conversation, LAST))
            }
            NodeKind::Tip(_) | NodeKind::Beginning(_) | NodeKind::Parting(_) | NodeKind::Heading(_)
                if self.compares =>
            {
                return self.compare(cx);
            }
            NodeKind::Tip(branch) => there(&conversation, branch),
            NodeKind::Beginning(_) | NodeKind::Parting(_) | NodeKind::Heading(_) => {
                self.preview.head(String::new());
                return self.preview.say("nothing had been said yet");
            }
        };
        self.preview.head(about);
        self.preview.manner(manner);
        self.preview.look(&format!("{} {}", node.key, self.head), 0, || Request::Log(log), cx);
    }

    /// Compares with the end of the selected branch, files included.
    fn compare(&mut self, cx: &mut Cx<'_>) {
        let Some(node) = self.rows.selected() else { return };
        let entry = match &node.is {
            NodeKind::Tip(branch) => Some(branch.leaf.clone()),
            _ => None,
        };
        self.preview.head("compared with where you are:".to_owned());
        self.preview.manner(ReplyDisplay::Compared);
        let files = FileOptions { scope: Scope::Both, ..FileOptions::default() };
        let plan = Plan { conversation: cx.id(), action: Action::Checkout { entry }, files, diff: true };
        self.preview.look(&format!("{} compared {}", node.key, self.head), 0, || Request::Plan(plan), cx);
    }

    fn accept(&mut self, cx: &mut Cx<'_>) {
        let Some(node) = self.rows.selected() else { return };
        let entry = match &node.is {
            NodeKind::Tip(branch) if branch.current => {
                return cx.want(PaneInstruction::Say("you are here already".to_owned()));
            }
            NodeKind::Beginning(true) => {
                return cx.want(PaneInstruction::Say("you are here already".to_owned()));
            }
            NodeKind::Tip(branch) => Some(branch.leaf.clone()),
            NodeKind::Beginning(false) => None,
            NodeKind::Fork(fork, _) => {
                return cx
                    .want(PaneInstruction::Show { conversation: fork.conversation.clone(), entry: None });
            }
            NodeKind::Subagent(subagent) => {
                let conversation = subagent.conversation.clone();
                return cx.want(PaneInstruction::ShowBeside { conversation, entry: None });
            }
            NodeKind::Parting(_) | NodeKind::Heading(_) => return,
        };
        cx.want(PaneInstruction::Plan("Switch", Box::new(Action::Checkout { entry })));
    }

    /// The selected leaf. If there is none, a notice says why.
    fn leaf(&self, verb: &str, cx: &mut Cx<'_>) -> Option<&Branch> {
        match &self.rows.selected()?.is {
            NodeKind::Tip(branch) => Some(branch),
            _ => {
                cx.want(PaneInstruction::Say(format!("only a branch can be {verb} here")));
                None
            }
        }
    }

    fn fork(&mut self, cx: &mut Cx<'_>) {
        if let Some(branch) = self.leaf("forked", cx) {
            cx.want(PaneInstruction::Fork(branch.leaf.clone()));
        }
    }

    /// Requests the conclusion of the selected branch.
    fn carry(&mut self, cx: &mut Cx<'_>) {
        let Some(node) = self.rows.selected() else { return };
        match carry::reads(&cx.id(), node) {
            Ok(log) => self.doing = Some((cx.ask(Request::Log(log)), TreeChange::CarryOver)),
            Err(why) => cx.want(PaneInstruction::Say(why.to_owned())),
        }
    }

    /// Lets the model summarise the selected branch in a message here.
    fn carry_summary(&mut self, cx: &mut Cx<'_>) {
        let Some(node) = self.rows.selected() else { return };
        match carry::summarises(cx.id(), node) {
            Ok(run) => {
                cx.want(PaneInstruction::Run(Box::new(run)));
                cx.want(PaneInstruction::Close);
            }
            Err(why) => cx.want(PaneInstruction::Say(why.to_owned())),
        }
    }

    fn rename(&mut self, cx: &mut Cx<'_>) {
        if let Some(branch) = self.leaf("named", cx) {
            let text = branch.label.clone().unwrap_or_default();
            self.naming = Some(NameInput { what: branch.leaf.clone(), text });
        }
    }

    /// A command while a name is typed.
    fn name(&mut self, command: Command, cx: &mut Cx<'_>) {
        if let Some((entry, name)) = NameInput::command(&mut self.naming, command) {
            let ticket = cx.apply(cx.id(), Action::Label { entry, name });
            self.doing = Some((ticket, TreeChange::Label));
        }
    }

    fn done(&mut self, doing: TreeChange, reply: Result<Reply, Problem>, cx: &mut Cx<'_>) {
        match (reply, doing) {
            (Err(problem), _) => cx.want(PaneInstruction::Complain(Box::new(problem))),
            (Ok(reply), TreeChange::CarryOver) => match carry::conclusion(&reply) {
                Some(words) => cx.want(PaneInstruction::Quote(words)),
                None => cx.want(PaneInstruction::Say("nothing was answered there".to_owned())),
            },
            (Ok(_), _) => {
                cx.want(PaneInstruction::Say("named".to_owned()));
                self.load(cx);
            }
        }
    }
}

impl Pane for Tree {
    fn context(&self) -> Context {
        Context::Tree
    }

    fn opened(&mut self, cx: &mut Cx<'_>) {
        self.load(cx);
    }

    fn command(&mut self, command: Command, cx: &mut Cx<'_>) {
        if self.naming.is_some() {
            return self.name(command, cx);
        }
        match command {
            Command::Close if self.compares => {
                self.compares = false;
                self.look(cx);
            }
            Command::Close => cx.want(PaneInstruction::Close),
            Command::Accept => self.accept(cx),
            Command::Branch => self.fork(cx),
            Command::Name => self.rename(cx),
            Command::Carry => self.carry(cx),
            Command::CarrySummary => self.carry_summary(cx),
            Command::Other | Command::DetailUp | Command::DetailDown => self.preview.command(command),
            Command::Compare => {
                self.compares = !self.compares;
                self.look(cx);
            }
            _ => {
                self.rows.command(command);
                self.look(cx);
            }
        }
    }

    fn typed(&mut self, text: &str, cx: &mut Cx<'_>) {
        if let Some(naming) = &mut self.naming {
            return naming.typed(text);
        }
        self.rows.typed(text);
        self.look(cx);
    }

    fn replied(&mut self, ticket: Ticket, reply: Result<Reply, Problem>, cx: &mut Cx<'_>) {
        let Some(reply) = self.preview.replied(ticket, reply) else { return self.look(cx) };
        if let Some((_, doing)) = self.doing.take_if(|(asked, _)| *asked == ticket) {
            return self.done(doing, reply, cx);
        }
        if self.loading.take_if(|asked| *asked == ticket).is_none() {
            return;
        }
        match reply {
            Ok(Reply::Tree(tree)) => {
                self.wrong = None;
                let tree = match self.before.take() {
                    Some(before) => before.with(tree),
                    None => tree,
                };
                // The graph needs all of them.
                if let Some(next) = tree.next() {
                    self.before = Some(tree);
                    return self.load_page(Some(next), cx);
                }
                self.loaded(tree);
                self.look(cx);
            }
            Ok(_) => {}
            Err(problem) => self.wrong = Some(problem),
        }
    }

    fn changed(&mut self, cx: &mut Cx<'_>) {
        self.load(cx);
    }

    fn clicked(&mut self, at: Position, cx: &mut Cx<'_>) {
        match self.rows.clicked(at) {
            InputEffect::Taken => self.accept(cx),
            InputEffect::Moved => self.look(cx),
            InputEffect::Nothing | InputEffect::Filtered => {}
        }
    }

    fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, brush: &PaneContext<'_>) {
        let keys = [
            (Command::Accept, "switch"),
            (Command::Compare, if self.compares { "messages" } else { "compare" }),
            (Command::Name, "name"),
            (Command::Branch, "fork"),
            (Command::Carry, "quote"),
            (Command::Other, "preview"),
        ];
        let about = "all branches of this conversation, newest first";
        let body = PaneFrame { title: "Tree", about, keys: &keys }.draw(frame, area, brush);
        if let Some(list) = self.preview.beside(frame, body, brush) {
            let empty = told(self.wrong.as_ref(), self.loading.is_some(), "nothing was said here yet");
            let lanes = if self.rows.filter().is_empty() { self.lanes } else { 0 };
            self.rows.draw(frame, list, brush, &empty, |node, ink| draw(node, lanes, ink, brush.now_ms));
        }
        if let Some(naming) = &self.naming {
            naming.draw(frame, area, brush, "label");
        }
    }
}
