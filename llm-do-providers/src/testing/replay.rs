//! A model that replays recorded answers.

mod recording;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use self::recording::{Recording, ReplayedRecording, request_json};
use crate::batched::BatchedRequest;
use crate::error::{ErrorKind, ProviderError};
use crate::model::{Model, Profile, Request, ResponseStream, ToolSpec, replay};
use crate::response::Response;

const PROVIDER: &str = "replay";

/// A model that replays the recorded answers of another model from a file: real answers in offline tests.
///
/// Each request must equal a recorded one in full: instructions, messages, tools, output schema and settings.
/// Otherwise the request is an error that names the file, the line, and the first difference from the next recorded
/// request, with both values; [`assert_finished`](Self::assert_finished) detects recorded requests that are no longer sent.
/// Equal requests are answered in the order of the file, each answer once; different ones in any order, since
/// concurrent calls vary.
///
/// The file has a line of JSON per request. It contains prompts and answers, but no keys and no headers. It is
/// created with the first answer: a recording whose first request fails leaves no file.
///
/// The name is that of the recorded model, so that answers keep their price.
///
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers::{Model, Settings}; pub use llm_do_providers as model; pub use llm_do_providers as testing; pub use llm_do_providers as usage; }
/// use llm_do::testing::{FunctionModel, ReplayModel};
/// use llm_do::{Model, Settings};
/// use llm_do::model::{Message, Request, Response};
/// use llm_do::usage::Usage;
///
/// # let folder = std::env::temp_dir().join(format!("llm-do-replay-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let path = folder.join("greeting.jsonl");
/// // Replaces a paid model; not created if the file exists.
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
    source: AnswerSource,
}

/// The source of answers.
#[derive(Clone)]
enum AnswerSource {
    File(Arc<Mutex<ReplayedRecording>>),
    /// A real model, whose answers are recorded.
    Real(Arc<dyn Model>, Arc<Mutex<Recording>>),
}

impl ReplayModel {
    /// Replays the file at `path`; if it does not exist, uses the model that `real` creates and records its answers.
    ///
    /// Record once with a key, and keep the file with the tests; delete it to record again.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`ErrorKind::Configuration`] if the file cannot be read or its directory does not
    /// exist, and the error of `real`.
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
        let recording = Recording::new(path, &name, profile).map_err(|error| recording_error(path, &error))?;
        Ok(Self { name, profile, source: AnswerSource::Real(Arc::new(real), Arc::new(Mutex::new(recording))) })
    }

    /// Replays the file at `path`.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`ErrorKind::Configuration`] if the file does not exist or is not a valid recording.
    pub fn replay(path: impl AsRef<Path>) -> Result<Self, ProviderError> {
        let path = path.as_ref();
        let (recording, name, profile) =
            ReplayedRecording::read(path).map_err(|error| recording_error(path, &error))?;
        Ok(Self { name, profile, source: AnswerSource::File(Arc::new(Mutex::new(recording))) })
    }

    /// Sets the features of the model. Default: those of the recorded one, with all server-side tools, since each
    /// request has to equal a recorded one anyway.
    #[must_use]
    pub fn profile(self, profile: Profile) -> Self {
        Self { profile, ..self }
    }

    /// Asserts that all recorded answers were used; does nothing while recording.
    ///
    /// # Panics
    ///
    /// Panics with the number of unused answers and the line of the next one, if there are any.
    #[track_caller]
    pub fn assert_finished(&self) {
        let AnswerSource::File(recording) = &self.source else { return };
        let unused = lock(recording).describe_unused();
        assert!(unused.is_none(), "`{}` has unused recorded answers: {}", self.name, unused.unwrap_or_default());
    }
}

fn answer(recording: &mut ReplayedRecording, request: &Request<'_>) -> Result<Response, ProviderError> {
    recording.take(&request_json(request)).map_err(|mismatch| {
        let text = format!("the request does not match the recording: {mismatch}");
        ProviderError::new(PROVIDER, ErrorKind::Configuration, text)
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn recording_error(path: &Path, error: &std::io::Error) -> ProviderError {
    let text = format!("cannot use `{}` as a recording: {error}", path.display());
    ProviderError::new(PROVIDER, ErrorKind::Configuration, text)
}

impl fmt::Debug for ReplayModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let real = match &self.source {
            AnswerSource::Real(real, _) => Some(real),
            AnswerSource::File(_) => None,
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

    fn tool_notes(&self, tool: &ToolSpec) -> Result<Vec<String>, String> {
        match &self.source {
            AnswerSource::File(_) => Ok(Vec::new()),
            AnswerSource::Real(real, _) => real.tool_notes(tool),
        }
    }

    fn batch(&self, _request: Request<'_>) -> Result<Option<BatchedRequest>, ProviderError> {
        Ok(None)
    }

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        let (real, recording) = match &self.source {
            AnswerSource::File(recording) => return answer(&mut lock(recording), &request),
            AnswerSource::Real(real, recording) => (real, recording),
        };
        let response = real.request(request).await?;
        lock(recording).record(request_json(&request), &response).map_err(|error| {
            let text = format!("cannot record the answer: {error}");
            ProviderError::new(PROVIDER, ErrorKind::Configuration, text)
        })?;
        Ok(response)
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        // Complete answers are recorded; the stream is replayed from them.
        Ok(replay(self.request(request).await?))
    }
}
