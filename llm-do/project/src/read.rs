//! Reads a project: the manifest, if any, and the files of each format.

mod python_class;
mod skills;
mod subagents;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use llm_do_core::base::open_file::folder_or_current;
use llm_do_core::declare::tool::Effect;
use llm_do_core::declare::worker_file::{EXTENSIONS, LoadedFile, ReadWorker, checked};
use llm_do_core::observe::event::ItemKind;
use llm_do_core::plane::definition::{DeclaredRule, ToolDef, linked_items};
use llm_do_core::plane::registry::Origin;
use llm_do_worker_file::{Context, Located, Place, did_you_mean};

use super::find::{Files, find};
use super::folder::Folder;
use super::manifest::{EntryKey, Manifest};
use super::report::shown;
use super::skills::{READ_SKILL, Skill, catalogue};
use super::tool_file::{self, ToolFile};
use super::{Project, Report, learned, manifest, mcp, policy, script};

/// The name of the manifest.
pub(super) const MANIFEST: &str = "project.json";
const AGENTS_MD: &str = "AGENTS.md";
const MCP: &str = ".mcp.json";
/// The file name, without the extension, of the worker that is the entry.
const MAIN: &str = "main";
/// The script that is the entry.
const MAIN_SCRIPT: &str = "tools/main.py";

/// Reads the project at `path`: its folder, its manifest, or a single worker file.
pub(super) fn project(path: &Path, report: &mut Report) -> Project {
    let (root, manifest) = match locate(path) {
        Ok(found) => found,
        Err(message) => {
            report.faults.push(message);
            return Project::default();
        }
    };
    let mut project = Project { root: root.clone(), ..Project::default() };
    let folder = match Folder::open(&root) {
        Ok(folder) => Rc::new(folder),
        Err(error) => {
            report.faults.push(format!("{}: cannot be opened: {error}", root.display()));
            return project;
        }
    };
    // A manifest stands for its folder.
    let opened = Some(path).filter(|path| path.file_name().is_none_or(|name| name != MANIFEST));
    let opened = opened.and_then(|path| path.canonicalize().ok());
    project.path = opened.unwrap_or_else(|| folder.canonical().to_owned());
    report.folder = Some(Rc::clone(&folder));
    contents(path, &root, manifest, report, &mut project);
    project.files = folder.digests();
    project.left_out = std::mem::take(&mut report.left_out);
    project
}

/// Reads the definitions of a project.
fn contents(path: &Path, root: &Path, manifest: Option<PathBuf>, report: &mut Report, project: &mut Project) {
    if is_worker_file(path) && path.is_file() {
        let mut reader = ProjectReader::new(path, root, report, project);
        // The path is relative to the root, so that the folders between them are searched.
        let main = reader.file(&root.join(path.file_name().unwrap_or_default()));
        reader.finish(None, main);
        return;
    }
    let given = manifest.as_ref().and_then(|path| {
        let text = report.text_of(path)?;
        manifest::read(path, &text).map_err(|faults| report.faults(path, faults)).ok()
    });
    let found = find(root, report);
    let path = manifest.unwrap_or_else(|| root.join(MANIFEST));
    let mut reader = ProjectReader::new(&path, root, report, project);
    reader.read_skills(&found);
    reader.servers();
    let main = reader.workers(&found, given.as_ref());
    reader.scripts(&found, given.as_ref());
    reader.learned(&found);
    let main = reader.by_convention(main, given.is_some());
    reader.subagents(&found);
    reader.finish(given, main);
}

/// Returns whether a path has the extension of a worker file.
pub(super) fn is_worker_file(path: &Path) -> bool {
    path.extension().is_some_and(|end| EXTENSIONS.iter().any(|known| end == *known))
}

/// Returns the folder of the project, and its manifest, if any.
fn locate(path: &Path) -> Result<(PathBuf, Option<PathBuf>), String> {
    if path.is_dir() {
        let manifest = path.join(MANIFEST);
        let manifest = manifest.exists().then_some(manifest);
        return Ok((path.to_owned(), manifest));
    }
    if !path.exists() {
        return Err(format!("{}: no such project: expected a folder, or a file `{MANIFEST}`", path.display()));
    }
    if !is_worker_file(path) && path.extension().is_none_or(|end| end != "json") {
        let expected = format!("expected a folder, a file `{MANIFEST}`, or a worker file `*.worker`");
        return Err(format!("{}: not a project: {expected}", path.display()));
    }
    let root = folder_or_current(path.parent().unwrap_or(Path::new("")));
    Ok((root.to_owned(), Some(path.to_owned())))
}

struct ProjectReader<'a> {
    /// The manifest, for faults.
    path: &'a Path,
    root: &'a Path,
    report: &'a mut Report,
    project: &'a mut Project,
    skills: Vec<Arc<Skill>>,
    /// The names of the servers in `.mcp.json`.
    listed_servers: Vec<String>,
    /// The names of subagents in their files, with their registered names if these differ.
    renamed: Vec<(String, String)>,
    /// The workers whose arguments a Python class would describe, with the class.
    unread_classes: Vec<(String, String)>,
}

impl<'a> ProjectReader<'a> {
    fn new(path: &'a Path, root: &'a Path, report: &'a mut Report, project: &'a mut Project) -> Self {
        Self {
            path,
            root,
            report,
            project,
            skills: Vec::new(),
            listed_servers: Vec::new(),
            renamed: Vec::new(),
            unread_classes: Vec::new(),
        }
    }

    /// Reads worker files and tool files; returns the worker of the file `main`.
    fn workers(&mut self, files: &Files, manifest: Option<&Manifest>) -> Option<String> {
        let listed = manifest.and_then(|manifest| manifest.worker_files.as_ref());
        let workers = match listed {
            Some(listed) => self.existing("agent_files", listed),
            None => files.workers.clone(),
        };
        let mut main = None;
        for path in workers.iter().chain(&files.tools) {
            let Some(name) = self.file(path) else { continue };
            if path.parent() == Some(self.root) && path.file_stem().is_some_and(|stem| stem == MAIN) {
                main = Some(name);
            }
        }
        main
    }

    /// Returns the entry by convention: the worker of the file `main`, the script `tools/main.py`, or the only worker.
    fn by_convention(&mut self, worker: Option<String>, is_named: bool) -> Option<String> {
        let path = self.root.join(MAIN_SCRIPT);
        let script = self.script_of(&path).map(str::to_owned);
        if let (Some(worker), Some(_), false) = (&worker, &script, is_named) {
            let message = format!(
                "this script and the worker `{worker}` of the file `{MAIN}` are both the entry; name one in `{MANIFEST}`, or rename a file"
            );
            self.report.fault(&path, Place::line(1), message);
        }
        let only = match self.project.workers.as_slice() {
            [(only, _)] => Some(only.name().to_owned()),
            _ => None,
        };
        worker.or(script).or(only)
    }

    /// Returns the name of the script of a file.
    fn script_of(&self, path: &Path) -> Option<&str> {
        self.project.scripts.iter().find(|(script, _)| script.path == path).map(|(script, _)| script.name.as_str())
    }

    /// Returns the name of the script that the path of a function names, such as `tools/main.py:main`.
    fn script_of_function(&self, function: &str) -> Option<&str> {
        let (file, function) = function.split_once(':')?;
        let path = self.root.join(file);
        self.script_of(&path).filter(|_| path.file_stem().is_some_and(|stem| stem == function))
    }

    /// Reads the scripts that no tool file names: those that are found, and those that the manifest lists.
    fn scripts(&mut self, files: &Files, manifest: Option<&Manifest>) {
        let listed = manifest.map(|manifest| manifest.scripts.as_slice()).unwrap_or_default();
        let listed = self.existing("python_files", listed);
        for path in files.scripts.iter().chain(&listed) {
            if self.script_of(path).is_some() {
                continue;
            }
            if let Some(read) = script::read(path, self.report) {
                self.project.scripts.push(read);
            }
        }
    }

    /// Reads the learned files that no tool file names.
    fn learned(&mut self, files: &Files) {
        for path in &files.learned {
            if self.project.learned.iter().any(|(learned, _)| learned.path == *path) {
                continue;
            }
            if let Some(read) = learned::read(path, self.report) {
                self.project.learned.push(read);
            }
        }
    }

    /// Returns the paths of the files that a key of the manifest lists.
    fn existing(&mut self, key: &str, listed: &[Located<String>]) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        for Located { place, value } in listed {
            let path = self.root.join(value);
            if path.is_file() {
                paths.push(path);
            } else {
                let message = format!("`{key}`: no file `{value}` ({})", path.display());
                self.report.fault(self.path, *place, message);
            }
        }
        paths
    }

    /// Reads one worker file or tool file; returns the name of a worker.
    fn file(&mut self, path: &Path) -> Option<String> {
        let is_tool = path.extension().is_some_and(|end| end == "tool");
        let read = if is_tool {
            match tool_file::read(path, self.report)? {
                ToolFile::Alias(alias, origin) => {
                    self.project.aliases.push((*alias, origin));
                    return None;
                }
                ToolFile::Worker(read) => *read,
                ToolFile::Learned(learned, origin) => {
                    self.project.learned.push((*learned, origin));
                    return None;
                }
                ToolFile::Script(script, origin) => {
                    self.project.scripts.push((*script, origin));
                    return None;
                }
            }
        } else {
            let text = self.report.text_of(path)?;
            let reading = llm_do_worker_file::read(&text);
            checked(reading).map_err(|faults| self.report.faults(path, faults)).ok()?
        };
        Some(self.worker(path, read))
    }

    fn worker(&mut self, path: &Path, read: ReadWorker) -> String {
        let ReadWorker { mut spec, mut tools, skills, context, servers, unread_class } = read;
        let toolsets = self.project.servers_of((path, "mcp_servers"), servers, &self.listed_servers, self.report);
        for (toolset, line) in toolsets {
            if !spec.toolsets.contains(&toolset) {
                spec.toolsets.push(toolset.clone());
                tools.push((toolset, line));
            }
        }
        let chosen = skills.map(|skills| self.chosen_skills(path, &skills)).unwrap_or_default();
        let mut parts = vec![std::mem::take(&mut spec.instructions)];
        if let Some(Located { place, value: Context::AgentsMd }) = context {
            parts.extend(self.agents_md(path, place));
        }
        let catalogue = catalogue(chosen.iter().map(AsRef::as_ref));
        if !chosen.is_empty() && self.report.count_text(path, catalogue.len()) {
            parts.push(catalogue);
            spec.toolsets.push(READ_SKILL.to_owned());
            let names = chosen.iter().map(|skill| skill.name.clone()).collect();
            self.project.chosen_skills.insert(spec.name().to_owned(), names);
        }
        parts.retain(|part| !part.is_empty());
        spec.instructions = parts.join("\n\n");
        if let Some(class) = unread_class {
            self.unread_class(path, spec.name(), class);
        }
        let name = spec.name().to_owned();
        self.project.workers.push((spec, Origin::File(LoadedFile::new(shown(path).to_owned(), tools))));
        name
    }

    /// Returns the text of the `AGENTS.md` nearest to a file, between it and the project's folder.
    fn agents_md(&mut self, path: &Path, place: Place) -> Option<String> {
        let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(self.root));
        let found = folders.map(|folder| folder.join(AGENTS_MD)).find(|file| file.is_file());
        let Some(file) = found else {
            let message = format!(
                "`context`: no `{AGENTS_MD}` in the folder of this file or in a folder above it, up to the project's folder"
            );
            self.report.fault(path, place, message);
            return None;
        };
        self.report.text_of(&file).map(|text| text.trim().to_owned())
    }

    /// Reads the servers of `.mcp.json`.
    fn servers(&mut self) {
        let path = self.root.join(MCP);
        if path.symlink_metadata().is_ok() {
            let servers = mcp::read(&path, self.root, self.report);
            self.listed_servers = servers.iter().map(|server| server.name().to_owned()).collect();
            self.project.add_servers(servers, self.report);
        }
    }

    fn finish(&mut self, manifest: Option<Manifest>, main: Option<String>) {
        self.project.entry = main;
        self.project.skills = std::mem::take(&mut self.skills);
        let Some(manifest) = manifest else { return };
        let Manifest { entry, runtime, policy, policy_file, takes_input, exposed, store, .. } = manifest;
        if let Some(entry) = entry {
            self.entry(entry);
        }
        let file = policy_file.and_then(|file| self.policy_file(&file));
        self.project.policy = policy.or(file).unwrap_or_default().or(runtime.rules);
        let place = |line| format!("{}:{line}", shown(self.path).display());
        self.project.mode = runtime.mode.map(|mode| (mode.value, place(mode.place.line)));
        self.project.max_depth = runtime.max_depth;
        self.project.end_on_denial = runtime.end_on_denial;
        self.project.takes_input = takes_input;
        self.project.exposed = exposed;
        self.project.store = store.and_then(|path| self.store(&path));
    }

    /// Returns the folder of workers that models create, which must be inside the project.
    fn store(&mut self, path: &Path) -> Option<PathBuf> {
        let folder = self.root.join(path);
        let checked = self.report.folder.as_ref().map(|inside| inside.inside_or_missing(&folder));
        if let Some(Err(error)) = checked {
            let message = format!("`generated_agents_dir`: `{}` cannot be used: {error}", path.display());
            self.report.fault(self.path, Place::line(1), message);
            return None;
        }
        Some(folder)
    }

    fn policy_file(&mut self, file: &Located<String>) -> Option<llm_do_core::plane::approval::Policy> {
        let path = self.root.join(&file.value);
        if !path.is_file() {
            let message = format!("`policy`: no file `{}` ({})", file.value, path.display());
            self.report.fault(self.path, file.place, message);
            return None;
        }
        let policy = policy::read(&path, self.report);
        self.project.policy_file = Some(path);
        policy
    }

    fn entry(&mut self, entry: EntryKey) {
        let EntryKey { mut name, is_function, arguments } = entry;
        if let Some((_, registered)) = self.renamed.iter().find(|(given, _)| *given == name.value) {
            name.value.clone_from(registered);
        }
        if let Some(script) = self.script_of_function(&name.value).filter(|_| is_function) {
            name.value = script.to_owned();
        }
        let of_files = self.project.workers.iter().map(|(spec, _)| spec.name());
        let scripts = self.project.scripts.iter().map(|(script, _)| script.name.as_str());
        let linked = linked_items().map(|def| def.name);
        let known: Vec<_> =
            if is_function { scripts.chain(linked).collect() } else { of_files.chain(linked).collect() };
        if known.contains(&name.value.as_str()) {
            self.check_arguments(&name, arguments.as_ref());
            let place = format!("{}:{}", shown(self.path).display(), name.place.line);
            self.project.tool_entry = is_changing_tool(&name.value).then_some(place);
            self.project.entry = Some(name.value);
            self.project.arguments = arguments;
            return;
        }
        let key = if is_function { "function" } else { "agent" };
        let left_out = self.report.why_left_out(&name.value);
        let near = left_out.unwrap_or_else(|| did_you_mean(&name.value, known));
        let workers: Vec<_> = self.project.workers.iter().map(|(spec, _)| format!("`{}`", spec.name())).collect();
        let hint = if near.is_empty() && !is_function && !workers.is_empty() {
            format!("; workers: {}", workers.join(", "))
        } else {
            near
        };
        let hint = if is_function && name.value.contains(".py") {
            "; of a Python file, list it in `python_files`, and give the function its name, such as `main.py:main`"
                .to_owned()
        } else {
            hint
        };
        // Faults of the worker files may be the reason that its name is unknown.
        if self.report.faults.is_empty() {
            self.report.fault(self.path, name.place, format!("`entry.{key}`: unknown {key} `{}`{hint}", name.value));
        }
    }
}

/// Returns whether a name belongs to a linked tool whose calls need approval by default.
fn is_changing_tool(name: &str) -> bool {
    let def = linked_items().find(|def| def.name == name);
    let is_read_only = |def: &ToolDef| def.effect == Effect::ReadOnly && def.approval != Some(DeclaredRule::Ask);
    def.is_some_and(|def| def.kind == ItemKind::Tool && !is_read_only(def))
}
