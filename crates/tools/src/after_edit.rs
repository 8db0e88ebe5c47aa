//! What happens after a successful edit, within the same call: formatters of the settings change the written files, and language
//! servers find errors in them. Must never turn a successful edit into a failure.

mod formatting;
mod names;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::join_all;
use retake_core::{CallTarget, EffectClass, Intent, ToolOutcome};
use serde_json::Value;

pub use formatting::Formatter;
pub use names::FileNames;

use crate::call::{Call, Output};
use crate::files::{PathBase, Place, content};
use crate::language::{ChangedFile, LanguageServer, LanguageServers};
use crate::set::{Schema, Tool};
use crate::shell::ShellConfig;

/// The largest text that language servers get.
const MOST_TEXT: usize = 2 << 20;

/// What happens after an edit.
#[derive(Default)]
pub struct AfterEdit {
    /// Programs that format written files, in this order.
    pub formatters: Vec<Formatter>,
    /// Language servers that find errors in them.
    pub servers: Vec<LanguageServer>,
    /// How programs run.
    pub shell: ShellConfig,
}

/// The programs that follow edits.
struct Programs {
    formatters: Vec<Formatter>,
    servers: LanguageServers,
    shell: ShellConfig,
}

impl From<AfterEdit> for Programs {
    fn from(AfterEdit { formatters, servers, shell }: AfterEdit) -> Self {
        Self { formatters, servers: LanguageServers::new(servers, shell.clone()), shell }
    }
}

impl Programs {
    /// Whether a program is for a file with this path.
    fn concern(&self, path: &Path) -> bool {
        self.servers.concern(path) || self.formatters.iter().any(|formatter| formatter.files.fit(path))
    }

    /// Lets them follow a call that has written files, and adds what comes of it to the result. `new` are files that were not
    /// there before.
    async fn follow(&self, call: &Call, new: &[PathBuf], output: &mut Output) {
        let ground = PathBase::new(&call.folder().await, &call.roots);
        let files: Vec<Written> =
            output.written.iter().filter_map(|path| Written::of(path, &ground, call)).collect();
        let mut remarks = self.format(call, &ground, &files, &mut output.facts).await;
        remarks.extend(self.check(call, new, &ground, &files).await);
        for remark in remarks {
            output.content.push_str(&format!("\n{remark}"));
            if let Some(shown) = &mut output.shown {
                shown.push_str(&format!("\n{remark}"));
            }
        }
    }

    /// What language servers find in the files.
    async fn check(&self, call: &Call, new: &[PathBuf], ground: &PathBase, files: &[Written]) -> Vec<String> {
        let roots: BTreeSet<&PathBuf> = files.iter().map(|file| &file.root).collect();
        let checks = roots.into_iter().map(|root| async move {
            let own =
                files.iter().filter(|file| file.root == *root && self.servers.concern(&file.place.path));
            let paths: Vec<PathBuf> = own.map(|file| file.place.path.clone()).collect();
            if paths.is_empty() {
                return Vec::new();
            }
            let (roots, new) = (call.writable.clone(), new.to_owned());
            let read = move |path: PathBuf| {
                let (text, is_new) = (current_text(&path, &roots), new.contains(&path));
                ChangedFile { path, text, is_new }
            };
            let read_all = move || paths.into_iter().map(read).collect::<Vec<ChangedFile>>();
            let changed = crate::blocking(read_all).await.unwrap_or_default();
            let shown = |path: &Path| path.starts_with(root).then(|| ground.shown(path));
            self.servers.check(call, root, &changed, shown).await
        });
        join_all(checks).await.concat()
    }
}

/// The current text of a file of these folders; none if it is no text of a usual size.
pub(crate) fn current_text(path: &Path, roots: &[PathBuf]) -> Option<String> {
    let place = PathBase::new(path.parent()?, roots).place(path.to_str()?).ok()?;
    let is_inside = place.inside.is_some() && place.path == path;
    let bytes = is_inside.then(|| content(&place))??;
    String::from_utf8(bytes).ok().filter(|text| text.len() <= MOST_TEXT)
}

/// A file that a call has written, in a folder in which programs may write.
#[derive(Clone, Debug)]
struct Written {
    /// The folder.
    root: PathBuf,
    place: Place,
}

impl Written {
    fn of(path: &Path, ground: &PathBase, call: &Call) -> Option<Self> {
        let place = ground.place_to_write(path.to_str()?).ok().filter(|place| place.path == path)?;
        let root = call.writable.iter().find(|root| path.starts_with(root))?;
        Some(Self { root: root.clone(), place })
    }
}

/// A tool that edits files, followed by programs of the settings.
struct Followed {
    tool: Arc<dyn Tool>,
    programs: Arc<Programs>,
}

/// These tools for files, with what happens after an edit.
pub fn with_programs(tools: Vec<Arc<dyn Tool>>, after: AfterEdit) -> Vec<Arc<dyn Tool>> {
    let programs = Arc::new(Programs::from(after));
    let followed = |tool: Arc<dyn Tool>| match tool.class() {
        EffectClass::Workspace => {
            Arc::new(Followed { tool, programs: Arc::clone(&programs) }) as Arc<dyn Tool>
        }
        _ => tool,
    };
    tools.into_iter().map(followed).collect()
}

#[async_trait]
impl Tool for Followed {
    fn name(&self) -> &str {
        self.tool.name()
    }

    fn about(&self) -> &str {
        self.tool.about()
    }

    fn schema(&self) -> Schema {
        self.tool.schema()
    }

    fn class(&self) -> EffectClass {
        self.tool.class()
    }

    fn accepts(&self, arguments: &Value) -> bool {
        self.tool.accepts(arguments)
    }

    fn intent(&self, arguments: &Value, folder: &Path, roots: &[PathBuf]) -> Result<Intent, String> {
        self.tool.intent(arguments, folder, roots)
    }

    fn starts_programs(&self, intent: &Intent) -> bool {
        let mut touches = intent.touches.iter();
        touches.any(|touch| matches!(touch, CallTarget::Write(path) if self.programs.concern(path)))
    }

    async fn call(&self, call: Call) -> Output {
        let written = call.writes.iter().flatten().filter(|path| self.programs.concern(path));
        let new: Vec<PathBuf> = written.filter(|path| !path.exists()).cloned().collect();
        let mut output = self.tool.call(call.clone()).await;
        if output.outcome == ToolOutcome::Ok {
            self.programs.follow(&call, &new, &mut output).await;
        }
        output
    }
}
