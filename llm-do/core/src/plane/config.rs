//! The configuration of a session, which its builder sets and its runs read.

use std::any::Any;
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use llm_do_providers::{PriceTable, Settings};

use crate::base::clock::{Clock, SystemClock};
use crate::base::usage::Limits;
use crate::declare::tool::OnUnknown;
use crate::observe::event;
use crate::observe::journal::Journal;
use crate::plane::history_processor::{Compaction, HistoryProcessor};
use crate::plane::instance::{CLOSE_TIMEOUT, TypeKey};
use crate::plane::user_input::InputHandler;

/// The default maximum nesting of workers.
const MAX_DEPTH: u32 = 5;

/// The default maximum number of tools in a request; models choose worse among more tools.
const MAX_TOOLS: usize = 40;

/// The maximum number of concurrent read-only calls in one turn, unless the builder sets another limit.
const MAX_CONCURRENT_CALLS: NonZeroUsize = NonZeroUsize::new(16).expect("it is not 0");

/// The configuration of a session; the methods of the builder document each value.
#[derive(Clone, Debug)]
pub(crate) struct SessionConfig {
    pub(crate) state: HashMap<TypeKey, Arc<dyn Any + Send + Sync>>,
    /// The maximum number of queued events per sink.
    pub(crate) sink_capacity: usize,
    pub(crate) settings: Settings,
    pub(crate) project_root: PathBuf,
    pub(crate) working_folder: WorkingFolder,
    pub(crate) max_depth: u32,
    /// The maximum number of tools in a worker's request; with more tools, the model has to search for them.
    pub(crate) max_tools: usize,
    /// The maximum number of concurrent read-only calls in one turn.
    pub(crate) max_concurrent_calls: NonZeroUsize,
    /// How many bytes a model gets of a result, if it is set.
    pub(crate) max_result: Option<u64>,
    pub(crate) limits: Option<Arc<Limits>>,
    /// Limits of workers by name, which replace the workers' own.
    pub(crate) worker_limits: HashMap<String, Arc<Limits>>,
    pub(crate) prices: Arc<PriceTable>,
    pub(crate) timeouts: HashMap<String, Duration>,
    /// The timeout for closing an instance.
    pub(crate) close_timeout: Duration,
    pub(crate) streaming: bool,
    /// Whether events have the content of requests.
    pub(crate) content: bool,
    /// Whether a denied call ends the run instead of being returned to the model.
    pub(crate) end_on_denial: bool,
    /// What happens to a call with an unknown outcome, of a tool without a setting.
    pub(crate) on_unknown: OnUnknown,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) input_handler: Option<Arc<dyn InputHandler>>,
    /// What keeps requests within the window of the model, unless it is off.
    pub(crate) compaction: Option<Arc<Compaction>>,
    pub(crate) processors: Arc<Vec<Arc<dyn HistoryProcessor>>>,
    pub(crate) journal: Option<Arc<dyn Journal>>,
}

/// The folder that tools of the working directory use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum WorkingFolder {
    /// The working directory of the process.
    #[default]
    OfProcess,
    /// The root of the project, for a session with a project.
    #[cfg_attr(not(feature = "project"), expect(dead_code, reason = "of projects"))]
    OfProject,
    /// A folder that the user names.
    #[cfg_attr(not(feature = "filesystem"), allow(dead_code, reason = "of the command line"))]
    Given(PathBuf),
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            state: HashMap::new(),
            sink_capacity: event::CAPACITY,
            settings: Settings::default(),
            project_root: PathBuf::from("."),
            working_folder: WorkingFolder::default(),
            max_depth: MAX_DEPTH,
            max_tools: MAX_TOOLS,
            max_concurrent_calls: MAX_CONCURRENT_CALLS,
            max_result: None,
            limits: None,
            worker_limits: HashMap::new(),
            prices: Arc::new(PriceTable::builtin()),
            timeouts: HashMap::new(),
            close_timeout: CLOSE_TIMEOUT,
            streaming: false,
            content: false,
            end_on_denial: false,
            on_unknown: OnUnknown::default(),
            clock: Arc::new(SystemClock),
            input_handler: None,
            compaction: Some(Arc::new(Compaction::default())),
            processors: Arc::default(),
            journal: None,
        }
    }
}
