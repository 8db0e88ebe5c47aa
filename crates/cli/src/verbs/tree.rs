//! `retake tree`: the branches of a conversation.

use clap::Args;
use retake_tui::render;
use retake_wire::reply::Tree as Shape;
use retake_wire::request::{self, LARGEST_PAGE};
use retake_wire::{Reply, Request};

use super::RunVerb;
use crate::args::{ConversationArg, limit};
use crate::context::Context;
use crate::error::{Result, expect_reply};

/// Show the branches of a conversation, and its forks
#[derive(Debug, Args)]
pub(crate) struct Tree {
    #[command(flatten)]
    place: ConversationArg,
    /// The maximum number of branches and forks [default: all]
    #[arg(long, value_name = "N", value_parser = limit, allow_negative_numbers = true)]
    limit: Option<usize>,
    /// Only branches after the one with this last entry, or forks after this one
    #[arg(long, value_name = "ID")]
    after: Option<String>,
}

impl RunVerb for Tree {
    const EXAMPLES: &'static [&'static str] = &["retake tree"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let conversation = cx.conversation(self.place.conversation).await?;
        if self.limit.is_none() && self.after.is_none() {
            let tree = whole(cx, &conversation).await?;
            return cx.present(&Reply::Tree(tree));
        }
        let page = request::Tree { conversation, limit: self.limit, after: self.after };
        let page = page_of(cx, page).await?;
        if cx.json {
            return cx.json(&Reply::Tree(page));
        }
        Ok(cx.ui.page_text(&render::tree::page(&cx.ui.look(), &page))?)
    }
}

/// All branches and forks, page by page.
pub(crate) async fn whole(cx: &Context<'_>, conversation: &str) -> Result<Shape> {
    let page =
        |after| request::Tree { conversation: conversation.to_owned(), limit: Some(LARGEST_PAGE), after };
    let mut tree = page_of(cx, page(None)).await?;
    while let Some(next) = tree.next() {
        tree = tree.with(page_of(cx, page(Some(next))).await?);
    }
    Ok(tree)
}

async fn page_of(cx: &Context<'_>, page: request::Tree) -> Result<Shape> {
    Ok(expect_reply!(cx.call(Request::Tree(page)).await?, Tree))
}
