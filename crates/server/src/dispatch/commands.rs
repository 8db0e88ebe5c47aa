//! The list of commands and skills. Must never say more of a file than its front matter.

use std::path::Path;

use retake_engine::prompt_files::{CommandFiles as Found, PromptFile, PromptKind, PromptOrigin};
use retake_wire::{CommandFile, CommandFiles, CommandKind, CommandOrigin, CommandsOf, Problem, Reply};

use super::absolute;
use crate::InProcess;
use crate::convert::{problem, shown_problem};

impl InProcess {
    pub(super) async fn command_files(&self, of: CommandsOf) -> Result<Reply, Problem> {
        let folder = absolute(&of.folder)?;
        let Found { commands, skills } = self.engine.command_files(Some(&folder)).await.map_err(problem)?;
        let commands_named: Vec<_> =
            commands.files.iter().map(|it| (it.name.clone(), it.path.clone())).collect();
        let hides = |skill: &PromptFile| {
            let by = commands_named.iter().find(|(name, _)| *name == skill.name);
            by.map(|(_, path)| path.as_path())
        };
        let mut files: Vec<_> = commands.files.iter().map(|it| file(it, None)).collect();
        files.extend(skills.files.iter().filter(|it| hides(it).is_none()).map(|it| file(it, None)));
        files.extend(skills.files.iter().filter_map(|it| Some(file(it, Some(hides(it)?)))));
        let shadowed = commands.shadowed.iter().chain(&skills.shadowed);
        files.extend(shadowed.map(|it| file(&it.file, Some(&it.by))));
        let refused = commands.refused.iter().chain(&skills.refused);
        let problems = refused.map(|it| shown_problem(it.error())).collect();
        Ok(Reply::CommandFiles(CommandFiles { files, problems }))
    }
}

fn file(file: &PromptFile, by: Option<&Path>) -> CommandFile {
    CommandFile {
        name: file.name.clone(),
        kind: match file.kind {
            PromptKind::Command => CommandKind::Command,
            PromptKind::Skill => CommandKind::Skill,
            PromptKind::Agent => CommandKind::Unknown,
        },
        description: file.description.clone(),
        argument_hint: file.argument_hint.clone(),
        origin: match file.origin {
            PromptOrigin::Settings => CommandOrigin::Settings,
            PromptOrigin::Folder => CommandOrigin::Folder,
        },
        path: file.path.display().to_string(),
        tools: file.tools.clone(),
        model: file.model.clone(),
        hidden_by: by.map(|by| by.display().to_string()),
    }
}
