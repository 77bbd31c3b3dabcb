//! A model that answers as another did once.

mod tape;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use self::tape::{Recording, Tape, written};
use crate::error::{ErrorKind, ProviderError};
use crate::model::{Model, Profile, Request, ResponseStream, replay};
use crate::response::Response;

const PROVIDER: &str = "replay";

/// A model that answers as another did once, from a file: real answers in tests that ask nobody.
///
/// Each request is held to the recorded ones in full: instructions, messages, tools, output schema and settings. One that is
/// not among them is an error with the file, the line, and the first place where it differs from the next recorded one, with
/// both values, so that a test shows what changed; [`assert_over`](Self::assert_over) has it notice what is not asked any more. Equal requests are answered in the
/// order of the file, each answer once; others in any order, as calls at the same time make them.
///
/// The file has a line of JSON for each request. It holds prompts and answers, but no key and no header. It is made with the
/// first answer: a recording whose first request fails leaves none.
///
/// Its name is that of the model that was recorded, so that the answers have the price that they had.
///
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers::*; pub mod testing { pub use llm_do_providers::*; } }
/// use llm_do::testing::{FunctionModel, ReplayModel};
/// use llm_do::{Message, Model, Request, Response, Settings, Usage};
///
/// # let folder = std::env::temp_dir().join(format!("llm-do-replay-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let path = folder.join("greeting.jsonl");
/// // Stands for a model that costs something; with the file there, it is not even made.
/// let real = || Ok(FunctionModel::new(|_| Ok(Response::new("m", vec![], Usage::of_request(3, 4)))));
/// let model = ReplayModel::open(&path, real)?;
/// # let messages = [Message::user("Hello!")];
/// # let settings = Settings::new();
/// # let ask = |model: ReplayModel| {
/// #     let request = Request::new(&messages, &settings);
/// #     futures_util::FutureExt::now_or_never(async move { model.request(request).await }).unwrap()
/// # };
/// # let first = ask(model)?;
/// # assert_eq!(ask(ReplayModel::open(&path, || -> Result<FunctionModel, _> { unreachable!() })?)?, first);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ReplayModel {
    name: String,
    profile: Profile,
    source: Source,
}

/// Where answers come from.
#[derive(Clone)]
enum Source {
    File(Arc<Mutex<Tape>>),
    /// A model, while the file is made.
    Real(Arc<dyn Model>, Arc<Mutex<Recording>>),
}

impl ReplayModel {
    /// Answers from the file at `path`; if there is none, asks the model that `real` makes, and records what it answers.
    ///
    /// Record once with a key, and keep the file with the tests; delete it to record anew.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`ErrorKind::Configuration`] if the file cannot be read, or there is no folder for it, and the
    /// error of `real`.
    pub fn open<M: Model + 'static>(
        path: impl AsRef<Path>,
        real: impl FnOnce() -> Result<M, ProviderError>,
    ) -> Result<Self, ProviderError> {
        let path = path.as_ref();
        if path.exists() {
            return Self::replay(path);
        }
        let real = real()?;
        let (name, profile) = (real.name().to_owned(), real.profile());
        let recording = Recording::new(path, &name, profile).map_err(|error| unusable(path, &error))?;
        Ok(Self { name, profile, source: Source::Real(Arc::new(real), Arc::new(Mutex::new(recording))) })
    }

    /// Answers from the file at `path`.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`ErrorKind::Configuration`] if the file is not there, or is no recording.
    pub fn replay(path: impl AsRef<Path>) -> Result<Self, ProviderError> {
        let path = path.as_ref();
        let (tape, name, profile) = Tape::read(path).map_err(|error| unusable(path, &error))?;
        Ok(Self { name, profile, source: Source::File(Arc::new(Mutex::new(tape))) })
    }

    /// Says what the model can do. Default: what the recorded one could, and of tools that a provider runs all, as requests are
    /// held to the recorded ones anyway.
    #[must_use]
    pub fn profile(self, profile: Profile) -> Self {
        Self { profile, ..self }
    }

    /// Fails the test if recorded answers were not asked for; while the file is made, there are none.
    ///
    /// # Panics
    ///
    /// Panics with how many answers are left, and where in the file the next one is.
    #[track_caller]
    pub fn assert_over(&self) {
        let Source::File(tape) = &self.source else { return };
        let left = lock(tape).left();
        assert!(left.is_none(), "`{}` was not asked for all: {}", self.name, left.unwrap_or_default());
    }
}

fn answer(tape: &mut Tape, request: &Request<'_>) -> Result<Response, ProviderError> {
    tape.take(&written(request)).map_err(|mismatch| {
        let text = format!("a request is not among the recorded ones: {mismatch}");
        ProviderError::new(PROVIDER, ErrorKind::Configuration, text)
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unusable(path: &Path, error: &std::io::Error) -> ProviderError {
    let text = format!("`{}` cannot be used as a recording: {error}", path.display());
    ProviderError::new(PROVIDER, ErrorKind::Configuration, text)
}

impl fmt::Debug for ReplayModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let real = match &self.source {
            Source::Real(real, _) => Some(real),
            Source::File(_) => None,
        };
        f.debug_struct("ReplayModel").field("name", &self.name).field("real", &real).finish_non_exhaustive()
    }
}

#[async_trait]
impl Model for ReplayModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn profile(&self) -> Profile {
        self.profile
    }

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        let (real, recording) = match &self.source {
            Source::File(tape) => return answer(&mut lock(tape), &request),
            Source::Real(real, recording) => (real, recording),
        };
        let response = real.request(request).await?;
        lock(recording).record(written(&request), &response).map_err(|error| {
            let text = format!("an answer cannot be recorded: {error}");
            ProviderError::new(PROVIDER, ErrorKind::Configuration, text)
        })?;
        Ok(response)
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        // The whole answer is what is recorded; its pieces are cut anew.
        Ok(replay(self.request(request).await?))
    }
}
