//! The verbs: one file each, with its arguments, its examples, the request that it sends and what it prints. The table below
//! registers them; parser, help, manual page, completions and dispatch follow from it. A verb must never change a conversation
//! except by a request.

use clap::Subcommand;

use crate::args::file_options::WithFiles;
use crate::context::Context;
use crate::error::Result;
use change::{Agreed, Change};

/// A verb with its arguments.
pub(crate) trait RunVerb {
    /// Command lines for the help and the manual page; for a verb with subcommands, all of theirs.
    const EXAMPLES: &'static [&'static str] = &[];

    /// Runs the verb and prints its result.
    async fn run(self, cx: &mut Context<'_>) -> Result;
}

/// An enum of verbs, and its dispatch.
macro_rules! subcommands {
    ($(#[$doc:meta])* $vis:vis enum $name:ident { $($(#[$attribute:meta])* $verb:ident($arguments:ty),)* }) => {
        $(#[$doc])*
        #[derive(Debug, Subcommand)]
        $vis enum $name {
            $($(#[$attribute])* $verb($arguments),)*
        }

        impl $crate::verbs::RunVerb for $name {
            // Boxed here: an async body is compiled wherever it is awaited, and this one holds all verbs.
            fn run(self, cx: &mut Context<'_>) -> impl Future<Output = Result> {
                match self {
                    $(Self::$verb(verb) => ::futures::FutureExt::boxed_local(verb.run(cx)),)*
                }
            }
        }

        impl $crate::verbs::Examples for $name {
            const EXAMPLES: &'static [&'static [&'static str]] =
                &[$(<$arguments as $crate::verbs::RunVerb>::EXAMPLES),*];
        }
    };
}

/// The examples of all verbs of an enum, in its order.
pub(crate) trait Examples {
    /// The examples of each verb.
    const EXAMPLES: &'static [&'static [&'static str]];
}

pub(crate) mod agreement;
pub(crate) mod archive;
pub(crate) mod ask;
pub(crate) mod backup;
pub(crate) mod change;
pub(crate) mod checkpoint;
pub(crate) mod choose;
pub(crate) mod commands;
pub(crate) mod compact;
mod completions;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod doctor;
pub(crate) mod drop;
pub(crate) mod edit;
pub(crate) mod erase;
pub(crate) mod exec;
pub(crate) mod export;
mod file_choices;
pub(crate) mod files;
pub(crate) mod fold;
pub(crate) mod fork;
pub(crate) mod gateway;
pub(crate) mod hidden;
pub(crate) mod hooks;
pub(crate) mod import;
pub(crate) mod label;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod mark;
pub(crate) mod mcp;
pub(crate) mod memory;
pub(crate) mod model_run;
pub(crate) mod models;
pub(crate) mod new;
pub(crate) mod ops;
pub(crate) mod outbox;
pub(crate) mod pair;
pub(crate) mod place;
pub(crate) mod plan;
pub(crate) mod posts;
pub(crate) mod redo;
pub(crate) mod request;
pub(crate) mod restore;
pub(crate) mod retry;
pub(crate) mod rewind;
pub(crate) mod say;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod targets;
pub(crate) mod title;
pub(crate) mod token;
pub(crate) mod tree;
pub(crate) mod undo;
pub(crate) mod unfold;
pub(crate) mod workspace;

subcommands! {
    /// The verbs, in the order of the help. Their descriptions are the doc comments of their arguments.
    pub(crate) enum Verb {
        New(new::New),
        List(list::List),
        Say(say::Say),
        Ask(ask::Ask),
        Exec(exec::Exec),
        Retry(retry::Retry),
        Compact(compact::Compact),
        Context(context::Context),
        Edit(edit::Edit),
        Choose(choose::ChooseVerb),
        Log(log::Log),
        Targets(targets::Targets),
        Plan(plan::Plan),
        Rewind(rewind::RewindVerb),
        Undo(Agreed<WithFiles<undo::Undo>>),
        Redo(Agreed<WithFiles<redo::Redo>>),
        #[command(visible_alias = "checkout")]
        Restore(Agreed<WithFiles<restore::Restore>>),
        Ops(ops::Ops),
        Request(request::RequestVerb),
        Tree(tree::Tree),
        Fork(fork::Fork),
        Drop(Agreed<WithFiles<drop::Drop>>),
        Hide(Change<mark::Hide>),
        Show(Change<WithFiles<mark::Show>>),
        Hidden(hidden::Hidden),
        Exclude(Change<mark::Exclude>),
        Include(Change<mark::Include>),
        Fold(Change<fold::Fold>),
        Unfold(Change<unfold::Unfold>),
        Label(Change<label::Label>),
        Title(Change<title::Title>),
        Archive(archive::Archive),
        Erase(erase::EraseVerb),
        Checkpoint(checkpoint::Checkpoint),
        Files(files::Files),
        Workspace(workspace::Workspace),
        Search(search::Search),
        Export(export::Export),
        Import(import::Import),
        Models(models::Models),
        Memory(memory::Memory),
        Commands(commands::Commands),
        Mcp(mcp::Mcp),
        Hooks(hooks::Hooks),
        Outbox(outbox::Outbox),
        Gateway(gateway::Gateway),
        Pair(pair::Pair),
        Place(place::Place),
        Posts(posts::Posts),
        Token(token::Token),
        Config(config::Config),
        Backup(backup::Backup),
        Doctor(doctor::Doctor),
        Serve(serve::Serve),
        Status(status::Status),
        Stop(stop::Stop),
        Completions(completions::Completions),
        Man(man::Man),
    }
}

#[cfg(test)]
mod tests {
    use retake_tui::ui::slash;

    /// The full screen names the verb of a command that it does not have.
    #[test]
    fn verbs_without_a_command_of_the_full_screen_are_known_to_it() {
        let (command, here) = (crate::args::command(), slash::of_full_screen());
        let is_command = |name: &str| here.contains(&name) || slash::BY_LINES_ONLY.contains(&name);
        // These two have commands with other names.
        let is_other = |name: &str| matches!(name, "models" | "status");
        let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set()).map(|verb| verb.get_name());
        let mut verbs: Vec<_> = verbs.filter(|name| !is_command(name) && !is_other(name)).collect();
        verbs.sort_unstable();
        assert_eq!(verbs, slash::IN_A_SHELL);
    }
}
