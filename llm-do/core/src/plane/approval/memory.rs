//! The memory of approvals: which equal calls run without another request, for a run or for the session.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use siphasher::sip128::{Hasher128, SipHasher24};

use super::{ApprovalRequest, RememberedApproval};
use crate::base::mutex::IgnorePoison;
use crate::observe::event::ApprovalScope;
use crate::plane::context::Variant;

/// The identity of a call: equal calls have equal values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct EqualCall {
    tool: Arc<str>,
    /// Canonical JSON.
    arguments: String,
    /// [`ApprovalRequest::given`] as canonical JSON.
    given: Option<String>,
    /// Distinguishes tools with the same name.
    variant: Option<VariantDigest>,
    /// The environment that it acts on besides its arguments; `None` in older records, which are equal to no call.
    #[serde(default)]
    environment: Option<EnvironmentDigest>,
}

/// A digest of the environment that a call acts on besides its arguments, such as folders and servers, whose settings
/// may be secret: 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct EnvironmentDigest(Arc<str>);

/// A digest of the definition of a callee, which may contain secrets: 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct VariantDigest(String);

/// The callers from the root, each with the digest that distinguishes it from tools with the same name.
pub(super) type CallerPath = Vec<(Arc<str>, Option<VariantDigest>)>;

/// An approval that holds for longer than one call, as a journal records it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct LastingApproval {
    pub(super) scope: ApprovalScope,
    pub(super) call: EqualCall,
    /// The callers that it holds for; `None` for all callers.
    pub(super) path: Option<CallerPath>,
}

/// The approvals that hold for longer than one call, for the session or for one run.
#[derive(Debug, Default)]
pub(super) struct ApprovalMemory(Mutex<HashSet<LastingApproval>>);

/// The approvals for one run; dropped when the run ends.
#[derive(Debug)]
pub(crate) struct RunMemory {
    number: u64,
    approved: Arc<ApprovalMemory>,
}

/// A weak handle to the memory of a run; after the run ends, approvals for it are dropped.
#[derive(Clone, Debug)]
pub(crate) struct RunScope {
    /// Identifies the run in this process.
    pub(super) number: u64,
    approved: Weak<ApprovalMemory>,
}

impl EqualCall {
    pub(super) fn from_request(request: &ApprovalRequest) -> Self {
        let (arguments, given) = match &request.normal {
            Some(normal) => (&normal.arguments, &normal.given),
            None => (&request.arguments, &request.given),
        };
        let arguments = canonical(arguments).to_string();
        let given = given.as_ref().map(|given| canonical(given).to_string());
        let variant = request.variant.as_ref().map(VariantDigest::new);
        let environment = request.environment.clone();
        Self { tool: Arc::clone(&request.tool), arguments, given, variant, environment }
    }

    pub(super) fn tool(&self) -> Arc<str> {
        Arc::clone(&self.tool)
    }

    pub(super) fn arguments(&self) -> Value {
        serde_json::from_str(&self.arguments).unwrap_or_default()
    }
}

impl VariantDigest {
    fn new(variant: &Variant) -> Self {
        Self(digest(variant.as_str()))
    }
}

impl EnvironmentDigest {
    pub(crate) fn new(text: &str) -> Self {
        Self(digest(text).into())
    }
}

fn digest(text: &str) -> String {
    let mut hasher = SipHasher24::new();
    std::hash::Hasher::write(&mut hasher, text.as_bytes());
    format!("{:032x}", hasher.finish128().as_u128())
}

impl LastingApproval {
    /// Returns the approval to remember; `None` if it holds for one call only.
    pub(crate) fn from_request(request: &ApprovalRequest, scope: ApprovalScope) -> Option<Self> {
        (scope != ApprovalScope::Call).then(|| Self::new(request, EqualCall::from_request(request), scope))
    }

    fn new(request: &ApprovalRequest, call: EqualCall, scope: ApprovalScope) -> Self {
        let path = (scope == ApprovalScope::Caller).then(|| caller_path(request));
        Self { scope, call, path }
    }
}

impl ApprovalMemory {
    pub(super) fn remember(&self, approval: LastingApproval) {
        self.0.lock().ignore_poison().insert(approval);
    }

    /// Returns the remembered approvals.
    pub(super) fn approvals(&self) -> Vec<RememberedApproval> {
        self.0.lock().ignore_poison().iter().map(RememberedApproval::from).collect()
    }

    /// Returns whether it has an approval with one of these scopes for the call.
    pub(super) fn holds(&self, request: &ApprovalRequest, call: &EqualCall, scopes: &[ApprovalScope]) -> bool {
        let approved = self.0.lock().ignore_poison();
        // Most memories are empty, so the keys are built only when they are needed.
        let covers = |scope: &ApprovalScope| approved.contains(&LastingApproval::new(request, call.clone(), *scope));
        !approved.is_empty() && scopes.iter().any(covers)
    }
}

impl RunMemory {
    /// Creates the empty memory of a new run.
    pub(crate) fn new() -> Self {
        // Not the run's id: two runs may have the same id.
        static RUNS: AtomicU64 = AtomicU64::new(0);
        Self { number: RUNS.fetch_add(1, Ordering::Relaxed), approved: Arc::default() }
    }

    pub(crate) fn scope(&self) -> RunScope {
        RunScope { number: self.number, approved: Arc::downgrade(&self.approved) }
    }
}

impl RunScope {
    /// Remembers an approval of the run, or of a path of callers in it.
    pub(super) fn remember(&self, approval: LastingApproval) {
        if let Some(memory) = self.approved.upgrade() {
            memory.remember(approval);
        }
    }

    /// Returns the remembered approvals.
    pub(super) fn approvals(&self) -> Vec<RememberedApproval> {
        self.approved.upgrade().map(|memory| memory.approvals()).unwrap_or_default()
    }

    pub(super) fn holds(&self, request: &ApprovalRequest, call: &EqualCall) -> bool {
        let scopes = [ApprovalScope::Run, ApprovalScope::Caller];
        self.approved.upgrade().is_some_and(|memory| memory.holds(request, call, &scopes))
    }
}

fn caller_path(request: &ApprovalRequest) -> CallerPath {
    let variants = request.path_variants.iter().map(|variant| variant.as_ref().map(VariantDigest::new));
    request.path.iter().cloned().zip(variants).collect()
}

/// Sorts the keys of all objects, so that equal arguments have the same text.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(canonical).collect(),
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().map(|(key, value)| (key.clone(), canonical(value))).collect();
            fields.sort_unstable_by(|left, right| left.0.cmp(&right.0));
            fields.into_iter().collect()
        }
        other => other.clone(),
    }
}
