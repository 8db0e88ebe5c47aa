//! The table of commands. Must never hold what a command does.

/// A place in which keys are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Context {
    /// Everywhere.
    Everywhere,
    /// The conversation, with the composer.
    Talk,
    /// A message is selected.
    Select,
    /// The agent requests approval of a call. Letters answer only if nothing is typed.
    Asked,
    /// An answer waits for the key that gives it.
    Grant,
    /// The search in the conversation.
    Find,
    /// Any pane in place of the conversation.
    Pane,
    /// The rewind picker.
    Rewind,
    /// A plan that waits for agreement.
    Confirm,
    /// The final question of the rewind picker.
    Agree,
    /// The choices for a file of a plan.
    Choices,
    /// The tree.
    Tree,
    /// The operations.
    Ops,
    /// The list of conversations.
    List,
}

impl Context {
    /// The wider place around it.
    #[must_use]
    pub fn around(self) -> Option<Self> {
        match self {
            Self::Everywhere => None,
            Self::Talk | Self::Pane => Some(Self::Everywhere),
            Self::Select | Self::Asked | Self::Grant | Self::Find => Some(Self::Talk),
            Self::Agree => Some(Self::Rewind),
            Self::Rewind | Self::Confirm | Self::Choices | Self::Tree | Self::Ops | Self::List => {
                Some(Self::Pane)
            }
        }
    }

    /// Its title in the help.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Everywhere => "Everywhere",
            Self::Talk => "Conversation",
            Self::Select => "With a selected message",
            Self::Asked => "When the agent asks",
            Self::Grant => "When an answer is chosen",
            Self::Find => "Finding in the conversation",
            Self::Pane => "In every list",
            Self::Rewind => "Rewind",
            Self::Confirm => "Plan",
            Self::Agree => "Rewind: the final question",
            Self::Choices => "Choices for a file",
            Self::Tree => "Tree",
            Self::Ops => "Operations",
            Self::List => "Conversations",
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The command.
    pub(crate) command: Command,
    /// Its name in settings, and after a slash if it can be typed.
    pub(crate) name: &'static str,
    /// Its effect, in a line.
    pub(crate) help: &'static str,
    /// Where its keys are valid.
    pub(crate) context: Context,
    /// Its default keys.
    pub(crate) keys: &'static [&'static str],
    /// The arguments when it is typed after a slash; `None` if it can't be typed.
    pub(crate) takes: Option<&'static str>,
}

macro_rules! commands {
    ($($context:ident { $($name:ident $text:literal $keys:tt $help:literal $(/ $takes:literal)?;)* })*) => {
        /// What a key or a typed command can do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Command {
            $($(#[doc = $help] $name,)*)*
        }

        /// All of them, in the order of the help.
        pub(crate) const TABLE: &[Row] = &[
            $($(Row {
                command: Command::$name,
                name: $text,
                help: $help,
                context: Context::$context,
                keys: &$keys,
                takes: commands!(@takes $($takes)?),
            },)*)*
        ];
    };
    (@takes) => { None };
    (@takes $takes:literal) => { Some($takes) };
}

commands! {
    Everywhere {
        Help "help" ["f1", "alt+/"] "Show keys and commands" / "";
        Quit "quit" ["ctrl+q"] "Quit; the conversation is kept" / "";
        Stop "stop" ["ctrl+c"] "Stop the run; with nothing to stop, clear the composer, then quit" / "";
        Suspend "suspend" ["ctrl+z"] "Suspend and go to the shell; fg returns";
        Redraw "redraw" ["ctrl+l"] "Draw everything again";
        NewTab "new" ["ctrl+t"] "Begin a conversation in a new tab" / "";
        CloseTab "close" ["alt+w"] "Close the tab; the conversation stays" / "";
        NextTab "next-tab" ["alt+.", "ctrl+pagedown"] "Next tab";
        PreviousTab "previous-tab" ["alt+,", "ctrl+pageup"] "Previous tab";
        GoOn "continue" ["alt+l"] "Continue the last conversation of this folder" / "";
        List "list" ["ctrl+o"] "Conversations: open, search, rename, archive" / "[WORDS]";
        Search "search" [] "Search everything that was said" / "WORDS";
        Theme "theme" [] "Choose the colours" / "[NAME]";
    }
    Talk {
        Send "send" ["enter"] "Send";
        NewLine "newline" ["alt+enter", "shift+enter", "ctrl+j"] "Begin a new line";
        Complete "complete" ["tab"] "Complete a path after @ or a command after /";
        Escape "escape" ["esc"] "Cancel; twice with an empty composer: rewind";
        Rewind "rewind" ["ctrl+r"] "Go back to before a message" / "[ENTRY]";
        Undo "undo" ["alt+u"] "Take back the last thing said or done" / "[N]";
        Redo "redo" ["alt+shift+u"] "Bring back what was undone" / "[N]";
        Select "select" ["alt+up", "ctrl+up"] "Select a message";
        Tree "tree" ["alt+t"] "Branches: look, compare, switch, label, fork" / "";
        Ops "ops" ["alt+o"] "Everything that was done: undo, redo, restore" / "";
        ScrollUp "scroll-up" ["pageup"] "Scroll a page up";
        ScrollDown "scroll-down" ["pagedown"] "Scroll a page down";
        ScrollTop "scroll-top" ["ctrl+home"] "Scroll to the beginning";
        ScrollEnd "scroll-end" ["ctrl+end"] "Scroll to the end, and stay there";
        Find "find" ["ctrl+f"] "Find in this conversation" / "[WORDS]";
        Reasoning "reasoning" ["alt+r"] "Show or fold the model's reasoning" / "";
        Output "output" ["alt+e"] "Show or fold what tools printed" / "";
        Editor "editor" ["ctrl+g"] "Write in your own editor" / "";
        HistoryUp "history-up" ["up", "ctrl+p"] "Earlier prompt, or the line above";
        HistoryDown "history-down" ["down", "ctrl+n"] "Later prompt, or the line below";
        HistorySearch "history-search" ["alt+h"] "Search earlier prompts";
        TypingUndo "typing-undo" ["alt+z", "ctrl+_"] "Undo typing";
        TypingRedo "typing-redo" ["alt+shift+z"] "Redo typing";
        DraftBack "draft" ["alt+d"] "Call back the draft that was moved aside" / "";
        DraftDrop "draft-drop" ["alt+shift+d"] "Discard that draft; Up finds its text for a while" / "";
        Model "model" ["alt+m"] "Choose the model" / "[NAME]";
        Permissions "permissions" ["alt+p"] "What the agent may do unasked" / "[MODE]";
        NextMode "next-mode" ["shift+tab"] "The next permission mode: ask, allow-edits, plan";
        PlanMode "plan" [] "Plan mode: the agent only reads, and hands over a plan" / "";
        Retry "retry" [] "Ask for another answer" / "[ENTRY]";
        Alternatives "alternatives" [] "Choose between the answers to a message" / "[ENTRY]";
        Edit "edit" [] "Edit an earlier message" / "[ENTRY]";
        Fork "fork" [] "Begin a new conversation with what was said up to here" / "[ENTRY]";
        Hide "hide" [] "Hide a message, as if it were deleted" / "ENTRY";
        Show "show" [] "Bring back what is hidden: a message, or all of a turn" / "[ENTRY]";
        Exclude "exclude" [] "Keep a message from the model" / "ENTRY";
        Include "include" [] "Let the model see it again" / "[ENTRY]";
        Hidden "hidden" [] "What is hidden or kept from the model, to be brought back" / "";
        DropTurn "drop" [] "Take a turn out of the middle, with its files" / "ENTRY";
        Label "label" [] "Name a message" / "ENTRY [NAME]";
        Title "title" ["f2"] "Name the conversation" / "[TITLE]";
        Restore "restore" [] "Return to the state after an operation, or before it" / "[before] N";
        Files "files" [] "What differs in the folder now" / "";
        Diff "diff" [] "How files differ since the last turn" / "";
        Checkpoint "checkpoint" [] "Save the state of the folder under a name" / "[NAME]";
        Todo "todo" [] "The agent's list" / "";
        Jobs "jobs" [] "What runs in the background" / "";
        Tools "tools" [] "What the agent can do" / "";
        Compact "compact" [] "Let the model summarise earlier messages; you still see them" / "[INSTRUCTIONS]";
        Commands "commands" [] "Commands and skills of this folder and your settings" / "";
        Memory "memory" [] "What is remembered; also add TEXT, edit ID TEXT, forget ID" / "[WORDS]";
        Mcp "mcp" [] "The MCP servers, and whether they answer" / "";
        Context "context" [] "How much of the model's context is used, and by what" / "";
        Cost "cost" [] "What model calls used" / "";
        Detach "detach" [] "Leave out what is attached to the next message" / "";
        Unqueue "unqueue" [] "Take back waiting messages" / "";
    }
    Asked {
        AllowOnce "allow-once" ["y", "alt+y"] "Allow this call, then Enter; a letter answers only if the composer holds nothing else";
        AllowHere "allow-here" ["c", "alt+c"] "Allow such calls in this conversation: the rule is shown, and Enter grants it";
        AllowAlways "allow-always" ["a", "alt+a"] "Allow such calls always: the rule is shown, and Enter grants it";
        Deny "deny" ["n", "alt+n"] "Refuse, then Enter; words that you send refuse it, too, and say why";
        AllowWider "allow-wider" ["w", "alt+w"] "Choose a wider rule for such calls, or the narrow one again";
        ShowCall "show-call" ["space", "alt+s"] "Show all of a long call; then it can be allowed";
    }
    Grant {
        Grant "grant" ["enter"] "Give the chosen answer; any other key gives none";
    }
    Select {
        SelectUp "select-up" ["up", "k", "alt+up", "ctrl+up"] "The message before";
        SelectDown "select-down" ["down", "j", "alt+down", "ctrl+down"] "The message after";
        SelectPageUp "select-page-up" ["pageup"] "A page up";
        SelectPageDown "select-page-down" ["pagedown"] "A page down";
        SelectFirst "select-first" ["home", "g"] "The first message";
        SelectLast "select-last" ["end", "G"] "The last message";
        SelectLeave "select-leave" ["esc", "q"] "Back to the composer";
        SelectOpen "select-open" ["enter", "space"] "Show all of it, or fold it";
        SelectRewind "select-rewind" ["R"] "Rewind to before it";
        SelectEdit "select-edit" ["e"] "Edit it";
        SelectRetry "select-retry" ["r"] "Ask for another answer";
        SelectHide "select-hide" ["h"] "Hide it";
        SelectExclude "select-exclude" ["x"] "Keep it from the model, or let the model see it again";
        SelectDrop "select-drop" ["d"] "Take its turn out, with its files";
        SelectFork "select-fork" ["f"] "Fork here";
        SelectCompactTo "select-compact-to" ["c"] "Summarise up to here, for the model";
        SelectCompactFrom "select-compact-from" ["C"] "Summarise from here on, for the model";
        SelectLabel "select-label" ["l"] "Name it";
        SelectCopy "select-copy" ["y"] "Copy it";
        SelectQuote "select-quote" [">"] "Quote it in the composer";
        SelectAlternatives "select-alternatives" ["a"] "The other answers";
        SelectPrevious "select-previous" ["["] "The alternative before";
        SelectNext "select-next" ["]"] "The alternative after";
        SelectSubagent "select-subagent" ["s"] "Open the subagent that it started";
    }
    Find {
        FindNext "find-next" ["enter", "down", "ctrl+n"] "The hit before (older)";
        FindPrevious "find-previous" ["up", "shift+enter", "ctrl+p"] "The hit after (newer)";
        FindLeave "find-leave" ["esc"] "Close the search and stay here";
    }
    Pane {
        Up "up" ["up", "ctrl+p"] "Up";
        Down "down" ["down", "ctrl+n"] "Down";
        PageUp "page-up" ["pageup"] "A page up";
        PageDown "page-down" ["pagedown"] "A page down";
        First "first" ["home"] "The first one";
        Last "last" ["end"] "The last one";
        Accept "accept" ["enter"] "Take it";
        Close "leave" ["esc"] "Go back without a change";
        Erase "erase-letter" ["backspace", "ctrl+h"] "Delete the last letter of the filter";
        EraseAll "erase-filter" ["ctrl+u"] "Empty the filter";
        Other "other" ["tab"] "Switch to the other half";
        DetailUp "detail-up" ["shift+up", "ctrl+k"] "Scroll the right half up";
        DetailDown "detail-down" ["shift+down", "ctrl+j"] "Scroll the right half down";
    }
    Rewind {
        Scope "scope" ["ctrl+s"] "Conversation and files, conversation only, files only";
        StopFirst "stop-first" ["ctrl+x"] "Stop the run first";
        NextFile "next-file" ["right"] "The next file";
        PreviousFile "previous-file" ["left"] "The file before";
        Choose "choose" ["ctrl+d"] "Choose another outcome for the file";
    }
    Confirm {
        ConfirmScope "plan-scope" ["ctrl+s", "s"] "Conversation and files, conversation only, files only";
        ConfirmNext "plan-next" ["right", "n"] "The next file";
        ConfirmPrevious "plan-previous" ["left", "p"] "The file before";
        ConfirmChoose "plan-choose" ["ctrl+d", "c"] "Choose another outcome for the file";
        ConfirmStop "plan-stop" ["ctrl+x"] "Stop the run first";
        ConfirmYes "plan-yes" ["y"] "Agree to the plan, as Enter does";
    }
    Agree {
        Yes "yes" ["y"] "Agree to the plan, as Enter does";
    }
    Choices {
        NextChoice "choices-next" ["ctrl+d", "c"] "The next choice; Up and Down move, too";
        Tick "choices-tick" ["space"] "Choose it and stay here; several hunks can be ticked";
    }
    Tree {
        Compare "compare" ["ctrl+d"] "Compare with the current branch";
        Branch "branch" ["ctrl+b"] "Fork a new conversation here";
        Name "name" ["ctrl+e"] "Name it";
        Carry "carry" ["ctrl+y"] "Quote its last answer in the composer, to go on with it here";
        CarrySummary "carry-summary" ["ctrl+g"] "Let the model summarise it, and say the summary here";
    }
    Ops {
        StepBack "step-back" ["alt+u", "left"] "Undo one step";
        StepForth "step-forth" ["alt+shift+u", "right"] "Redo one step";
        RestoreAfter "restore-after" ["alt+enter"] "Restore the state after it, not the state before it";
    }
    List {
        Rename "rename" ["f2", "ctrl+e"] "Rename it";
        Archive "archive" ["ctrl+x"] "Archive it, or bring it back";
        Archived "archived" ["ctrl+a"] "Show or hide archived ones";
        Beside "beside" ["alt+enter", "ctrl+t"] "Open it in a new tab";
    }
}

/// Earlier names of commands that can be typed. They still work.
const EARLIER_NAMES: &[(&str, Command)] =
    &[("alternatives", Command::Alternatives), ("rollback", Command::Rewind)];

impl Row {
    /// The name to type after a slash. The settings had a command `choose` before it was the name of this one.
    pub(crate) fn typed_name(&self) -> &'static str {
        if self.command == Command::Alternatives { "choose" } else { self.name }
    }
}

impl Command {
    /// Its row of the table.
    ///
    /// # Panics
    ///
    /// Never: the table has a row for each command.
    #[must_use]
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The command with this name that can be typed after a slash.
    #[must_use]
    pub fn typed(name: &str) -> Option<Self> {
        let typed = TABLE.iter().find(|row| row.takes.is_some() && row.typed_name() == name);
        let earlier = || EARLIER_NAMES.iter().find(|(earlier, _)| *earlier == name);
        typed.map(|row| row.command).or_else(|| earlier().map(|(_, command)| *command))
    }

    /// The commands that text typed after a slash may mean: the one with this name, or those whose names begin with it.
    #[must_use]
    pub fn begun(name: &str) -> Vec<Self> {
        if let Some(command) = Self::typed(name) {
            return vec![command];
        }
        let begins = |row: &&Row| row.takes.is_some() && row.typed_name().starts_with(name);
        TABLE.iter().filter(begins).map(|row| row.command).collect()
    }
}
